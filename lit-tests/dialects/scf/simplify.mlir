// Conditionals and loops that say too much.
// RUN: sutura-opt %s --canonicalize --allow-unregistered-dialect | FileCheck %s

// What both sides take from outside is selected; what is then left runs in one side.
// CHECK-LABEL: func.func @select(
// CHECK-DAG:   %[[R:.*]] = arith.select %c, %x, %y : i32
// CHECK-DAG:   scf.if %c {
// CHECK:         "foreign.op"
// CHECK-NOT:   else
// CHECK:       return %[[R]], %x, %c
func.func @select(%c: i1, %x: i32, %y: i32) -> (i32, i32, i1) {
  %true = arith.constant true
  %false = arith.constant false
  %r:3 = scf.if %c -> (i32, i32, i1) {
    "foreign.op"() : () -> ()
    scf.yield %x, %x, %true : i32, i32, i1
  } else {
    scf.yield %y, %x, %false : i32, i32, i1
  }
  return %r#0, %r#1, %r#2 : i32, i32, i1
}

// CHECK-LABEL: func.func @complement(
// CHECK-NEXT:  scf.if %c {
// CHECK-NEXT:    "foreign.other"
// CHECK-NEXT:  } else {
// CHECK-NEXT:    "foreign.op"
func.func @complement(%c: i1) {
  %true = arith.constant true
  %n = arith.xori %c, %true : i1
  scf.if %n {
    "foreign.op"() : () -> ()
  } else {
    "foreign.other"() : () -> ()
  }
  return
}

// CHECK-LABEL: func.func @known_inside(
// CHECK-DAG:   %[[TRUE:.*]] = arith.constant true
// CHECK-DAG:   %[[FALSE:.*]] = arith.constant false
// CHECK:       "foreign.op"(%[[TRUE]])
// CHECK:       "foreign.other"(%[[FALSE]])
func.func @known_inside(%c: i1) {
  scf.if %c {
    "foreign.op"(%c) : (i1) -> ()
  } else {
    "foreign.other"(%c) : (i1) -> ()
  }
  return
}

// CHECK-LABEL: func.func @nested(
// CHECK-NEXT:  %[[BOTH:.*]] = arith.andi %c, %d : i1
// CHECK-NEXT:  scf.if %[[BOTH]] {
// CHECK-NEXT:    "foreign.op"
// CHECK-NEXT:  }
// CHECK-NEXT:  return
func.func @nested(%c: i1, %d: i1) {
  scf.if %c {
    scf.if %d {
      "foreign.op"() : () -> ()
    }
  }
  return
}

// The outer one does more than to ask again: it stays.
// CHECK-LABEL: func.func @nested_with_more(
// CHECK-COUNT-2: scf.if
func.func @nested_with_more(%c: i1, %d: i1) {
  scf.if %c {
    scf.if %d {
      "foreign.op"() : () -> ()
    }
    "foreign.other"() : () -> ()
  }
  return
}

// CHECK-LABEL: func.func @after_each_other(
// CHECK-NEXT:  %[[R:.*]] = scf.if %c -> (i32) {
// CHECK-NEXT:    %[[A:.*]] = "foreign.op"() : () -> i32
// CHECK-NEXT:    %[[B:.*]] = "foreign.other"(%[[A]]) : (i32) -> i32
// CHECK-NEXT:    scf.yield %[[B]] : i32
// CHECK-NEXT:  } else {
// CHECK-NEXT:    scf.yield %x : i32
// CHECK-NEXT:  }
// CHECK-NEXT:  return %[[R]]
func.func @after_each_other(%c: i1, %x: i32) -> i32 {
  %0 = scf.if %c -> i32 {
    %a = "foreign.op"() : () -> i32
    scf.yield %a : i32
  } else {
    scf.yield %x : i32
  }
  %1 = scf.if %c -> i32 {
    %b = "foreign.other"(%0) : (i32) -> i32
    scf.yield %b : i32
  } else {
    scf.yield %0 : i32
  }
  return %1 : i32
}

// One value does not change, one nothing uses, and two are the same.
// CHECK-LABEL: func.func @carried(
// CHECK:       %[[R:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %x) -> (i32)
// CHECK-NEXT:    %[[N:.*]] = "foreign.op"(%[[A]], %[[A]], %y) : (i32, i32, i32) -> i32
// CHECK-NEXT:    scf.yield %[[N]] : i32
// CHECK:       return %[[R]], %[[R]], %y
func.func @carried(%n: index, %x: i32, %y: i32) -> (i32, i32, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x, %d = %y, %e = %y) -> (i32, i32, i32, i32) {
    %next = "foreign.op"(%a, %b, %d) : (i32, i32, i32) -> i32
    scf.yield %next, %next, %d, %next : i32, i32, i32, i32
  }
  return %r#0, %r#1, %r#2 : i32, i32, i32
}

// A loop that may not run yields what it began with.
// CHECK-LABEL: func.func @last_value(
// CHECK:       %[[R:.*]] = scf.for
// CHECK:       return %y, %[[R]]
func.func @last_value(%n: index, %x: i32, %y: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %0 = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %x) -> i32 {
    scf.yield %y : i32
  }
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> i32 {
    scf.yield %y : i32
  }
  return %0, %1 : i32, i32
}

// CHECK-LABEL: func.func @while(
// CHECK-DAG:   %[[TRUE:.*]] = arith.constant true
// CHECK:       %[[R:.*]] = scf.while (%[[A:.*]] = %x) : (i32) -> i32 {
// CHECK-NEXT:    %[[C:.*]] = arith.cmpi ne, %[[A]], %y : i32
// CHECK-NEXT:    scf.condition(%[[C]]) %[[A]] : i32
// CHECK-NEXT:  } do {
// CHECK-NEXT:  ^bb0(%[[B:.*]]: i32):
// CHECK-NEXT:    %[[N:.*]] = "foreign.op"(%[[B]], %[[TRUE]], %[[TRUE]], %y) : (i32, i1, i1, i32) -> i32
// CHECK-NEXT:    scf.yield %[[N]] : i32
// CHECK-NEXT:  }
// CHECK-NEXT:  return %[[R]], %[[R]]
func.func @while(%x: i32, %y: i32) -> (i32, i32) {
  %r:4 = scf.while (%a = %x, %u = %y, %v = %y) : (i32, i32, i32) -> (i32, i32, i1, i32) {
    %c = arith.cmpi ne, %a, %y : i32
    scf.condition(%c) %a, %a, %c, %u : i32, i32, i1, i32
  } do {
  ^bb0(%b: i32, %d: i32, %e: i1, %u: i32):
    %again = arith.cmpi ne, %d, %y : i32
    %n = "foreign.op"(%b, %e, %again, %u) : (i32, i1, i1, i32) -> i32
    scf.yield %n, %u, %b : i32, i32, i32
  }
  return %r#0, %r#1 : i32, i32
}

// CHECK-LABEL: func.func @region(
// CHECK-NEXT:  %[[R:.*]] = "foreign.op"() : () -> i32
// CHECK-NEXT:  %[[S:.*]] = scf.execute_region -> i32 no_inline {
// CHECK:       return %[[R]], %[[S]]
func.func @region() -> (i32, i32) {
  %0 = scf.execute_region -> i32 {
    %a = "foreign.op"() : () -> i32
    scf.yield %a : i32
  }
  %1 = scf.execute_region -> i32 no_inline {
    %a = "foreign.op"() : () -> i32
    scf.yield %a : i32
  }
  return %0, %1 : i32, i32
}

// What does not come to its end stays.

// CHECK-LABEL: func.func @region_without_end(
// CHECK-NEXT:    scf.execute_region {
// CHECK-NEXT:      llvm.unreachable
func.func @region_without_end(%m: memref<f32>, %x: f32) {
  scf.execute_region {
    llvm.unreachable
  }
  return
}
