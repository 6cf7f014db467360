// RUN: sutura-opt %s --sccp | FileCheck %s
// RUN: sutura-opt %s --pass-pipeline='builtin.module(func.func(sccp))' | FileCheck %s --check-prefix=ALONE

// All calls agree on the second argument. Alone a function does not see its callers.

// CHECK-LABEL: func.func private @callee(
// CHECK-SAME:    %[[A:[^:]*]]: i32
// CHECK-NEXT:    %[[C:.*]] = arith.constant 4 : i32
// CHECK-NEXT:    return %[[A]], %[[C]] : i32, i32
// ALONE-LABEL: func.func private @callee(
// ALONE:         %[[B:.*]] = arith.addi
// ALONE:         return %{{.*}}, %[[B]]
func.func private @callee(%a: i32, %b: i32) -> (i32, i32) {
  %c = arith.addi %b, %b : i32
  return %a, %c : i32, i32
}

// CHECK-LABEL: func.func @caller(
// CHECK:         %[[R:.*]]:2 = call @callee
// CHECK:         return %[[R]]#0, %[[F:.*]], %[[F]] : i32, i32, i32
func.func @caller() -> (i32, i32, i32) {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %r:2 = call @callee(%one, %two) : (i32, i32) -> (i32, i32)
  %s:2 = call @callee(%two, %two) : (i32, i32) -> (i32, i32)
  return %r#0, %r#1, %s#1 : i32, i32, i32
}

// A public function may be called with anything, and so may one whose name is taken as a value.

// CHECK-LABEL: func.func @public(
// CHECK:         arith.addi
func.func @public(%a: i32) -> i32 {
  %b = arith.addi %a, %a : i32
  return %b : i32
}

// CHECK-LABEL: func.func private @address(
// CHECK:         arith.addi
func.func private @address(%a: i32) -> i32 {
  %b = arith.addi %a, %a : i32
  return %b : i32
}

// CHECK-LABEL: func.func @uses(
// CHECK:         %[[P:.*]] = call @public
// CHECK:         %[[Q:.*]] = call @address
// CHECK:         return %[[P]], %[[Q]]
func.func @uses() -> (i32, i32, (i32) -> i32) {
  %one = arith.constant 1 : i32
  %p = call @public(%one) : (i32) -> i32
  %q = call @address(%one) : (i32) -> i32
  %f = func.constant @address : (i32) -> i32
  return %p, %q, %f : i32, i32, (i32) -> i32
}

// Recursion: what comes back is what the only other return says.

// CHECK-LABEL: func.func private @recursive(
// CHECK:         %[[N:.*]] = arith.constant 9 : i32
// CHECK:         return %[[N]]
func.func private @recursive(%c: i1, %n: i32) -> i32 {
  cf.cond_br %c, ^again, ^end(%n : i32)
^again:
  %r = call @recursive(%c, %n) : (i1, i32) -> i32
  cf.br ^end(%r : i32)
^end(%x: i32):
  return %x : i32
}

// CHECK-LABEL: func.func @starts(
func.func @starts(%c: i1) -> i32 {
  %nine = arith.constant 9 : i32
  %r = call @recursive(%c, %nine) : (i1, i32) -> i32
  return %r : i32
}

// Nothing is known of a function that is defined elsewhere.

func.func private @elsewhere(i32) -> i32

// CHECK-LABEL: func.func @outside(
// CHECK:         %[[R:.*]] = call @elsewhere
// CHECK-NEXT:    return %[[R]]
func.func @outside() -> i32 {
  %one = arith.constant 1 : i32
  %r = call @elsewhere(%one) : (i32) -> i32
  return %r : i32
}
