// What branches become that are known, and switches that say too much.
// RUN: sutura-opt %s --canonicalize --allow-unregistered-dialect | FileCheck %s

// In a side that only this branch enters, the condition is known; behind both it is not.
// CHECK-LABEL: func.func @known_in_sides(
// CHECK-DAG:   %[[TRUE:.*]] = arith.constant true
// CHECK:       cf.cond_br %c, ^[[A:bb[0-9]+]], ^[[B:bb[0-9]+]]
// CHECK:       ^[[A]]:
// CHECK-NEXT:  "foreign.op"(%[[TRUE]])
// CHECK:       ^[[B]]:
// CHECK-NEXT:  "foreign.other"(%c)
func.func @known_in_sides(%c: i1) {
  cf.cond_br %c, ^a, ^b
^a:
  "foreign.op"(%c) : (i1) -> ()
  cf.br ^b
^b:
  "foreign.other"(%c) : (i1) -> ()
  return
}

// A block that more than one branch enters knows nothing.
// CHECK-LABEL: func.func @entered_twice(
// CHECK-NOT:   arith.constant
// CHECK:       "foreign.op"(%c)
func.func @entered_twice(%c: i1, %d: i1) {
  cf.cond_br %d, ^a, ^b
^b:
  "foreign.other"() : () -> ()
  cf.cond_br %c, ^a, ^e
^a:
  "foreign.op"(%c) : (i1) -> ()
  return
^e:
  return
}

// CHECK-LABEL: func.func @switch_on_constant(
// CHECK-NEXT:  return %y
func.func @switch_on_constant(%x: i32, %y: i32) -> i32 {
  %v = arith.constant -1 : i32
  cf.switch %v : i32, [
    default: ^a,
    4294967295: ^b
  ]
^a:
  "foreign.op"() : () -> ()
  return %x : i32
^b:
  return %y : i32
}

// CHECK-LABEL: func.func @switch_with_default_only(
// CHECK-NOT:   cf.switch
// CHECK:       "foreign.op"(%f)
func.func @switch_with_default_only(%f: i32) {
  cf.switch %f : i32, [
    default: ^a
  ]
^a:
  "foreign.op"(%f) : (i32) -> ()
  return
}

// The case that does what the default does goes; the one that passes something else stays.
// CHECK-LABEL: func.func @cases_like_default(
// CHECK:       cf.switch %f : i32, [
// CHECK-NEXT:    default: ^bb1(%x : i32),
// CHECK-NEXT:    2: ^bb1(%y : i32)
// CHECK-NEXT:  ]
func.func @cases_like_default(%f: i32, %x: i32, %y: i32) -> i32 {
  cf.switch %f : i32, [
    default: ^a(%x : i32),
    1: ^a(%x : i32),
    2: ^a(%y : i32)
  ]
^a(%p: i32):
  "foreign.op"() : () -> ()
  return %p : i32
}

// Behind its case, the inner switch is decided; behind the default, it is not asked for the outer cases again.
// CHECK-LABEL: func.func @switch_behind_switch(
// CHECK:       cf.switch %f : i32, [
// CHECK-NEXT:    default: ^[[DEFAULT:bb[0-9]+]],
// CHECK-NEXT:    1: ^[[END:bb[0-9]+]](%y : i32)
// CHECK-NEXT:  ]
// CHECK:       ^[[DEFAULT]]:
// CHECK:       cf.switch %f : i32, [
// CHECK-NEXT:    default: ^[[END]](%x : i32),
// CHECK-NEXT:    2: ^[[END]](%z : i32)
// CHECK-NEXT:  ]
func.func @switch_behind_switch(%f: i32, %x: i32, %y: i32, %z: i32) -> i32 {
  cf.switch %f : i32, [
    default: ^d,
    1: ^a
  ]
^a:
  cf.switch %f : i32, [
    default: ^e(%x : i32),
    1: ^e(%y : i32)
  ]
^d:
  "foreign.op"() : () -> ()
  cf.switch %f : i32, [
    default: ^e(%x : i32),
    1: ^e(%y : i32),
    2: ^e(%z : i32)
  ]
^e(%p: i32):
  return %p : i32
}
