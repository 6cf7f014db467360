// RUN: sutura-opt %s --sccp --allow-unregistered-dialect | FileCheck %s

// CHECK-LABEL: func.func @taken(
// CHECK:         %[[C:.*]] = arith.constant 3 : i32
// CHECK-NEXT:    return %[[C]] : i32
func.func @taken(%x: i32) -> i32 {
  %true = arith.constant true
  %three = arith.constant 3 : i32
  %r = scf.if %true -> (i32) {
    scf.yield %three : i32
  } else {
    scf.yield %x : i32
  }
  return %r : i32
}

// Both sides count when the condition is not known.

// CHECK-LABEL: func.func @either(
// CHECK:         %[[R:.*]], %{{.*}} = scf.if
// CHECK:         return %[[R]], %three : i32, i32
func.func @either(%c: i1, %x: i32) -> (i32, i32) {
  %three = arith.constant 3 : i32
  %r, %s = scf.if %c -> (i32, i32) {
    scf.yield %three, %three : i32, i32
  } else {
    scf.yield %x, %three : i32, i32
  }
  return %r, %s : i32, i32
}

// The second value is carried unchanged, the first is not; a loop that is not entered only passes its operands on.

// CHECK-LABEL: func.func @loops(
// CHECK:         %[[L:.*]], %{{.*}} = scf.for
// CHECK:         return %[[L]], %[[C:.*]], %[[C]] : i32, i32, i32
func.func @loops(%n: index, %x: i32) -> (i32, i32, i32) {
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %l, %m = scf.for %i = %i0 to %n step %i1 iter_args(%a = %one, %b = %one) -> (i32, i32) {
    %y = arith.addi %a, %b : i32
    %z = arith.muli %b, %one : i32
    scf.yield %y, %z : i32, i32
  }
  %k = scf.for %i = %i1 to %i0 step %i1 iter_args(%a = %one) -> (i32) {
    scf.yield %x : i32
  }
  return %l, %m, %k : i32, i32, i32
}

// A loop that leaves at once.

// CHECK-LABEL: func.func @while(
// CHECK:         return %[[C:.*]] : i32
// CHECK-NOT:     return
func.func @while(%x: i32) -> i32 {
  %five = arith.constant 5 : i32
  %r = scf.while (%a = %five) : (i32) -> i32 {
    %false = arith.constant false
    scf.condition(%false) %a : i32
  } do {
  ^bb0(%b: i32):
    scf.yield %x : i32
  }
  return %r : i32
}

// Of an operation that is not known nothing is assumed, but what it holds is looked into.

// CHECK-LABEL: func.func @foreign(
// CHECK:         "foreign.op"
// CHECK-NEXT:    ^bb0(%[[A:.*]]: i32):
// CHECK:           %[[C:.*]] = arith.constant 4 : i32
// CHECK-NOT:       arith.addi
// CHECK:           "foreign.use"(%[[C]], %[[A]])
func.func @foreign() {
  %one = arith.constant 1 : i32
  "foreign.op"() ({
  ^bb0(%a: i32):
    %two = arith.constant 2 : i32
    %three = arith.addi %two, %two : i32
    "foreign.use"(%three, %a) : (i32, i32) -> ()
  }) : () -> ()
  return
}
