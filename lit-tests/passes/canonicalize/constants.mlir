// RUN: sutura-opt %s --canonicalize --allow-unregistered-dialect | FileCheck %s

// Equal constants become one at the start of the function, whatever region they are in.

// CHECK-LABEL: func.func @merged(
// CHECK-SAME:    %[[C:.*]]: i1
// CHECK-NEXT:    %[[K:.*]] = arith.constant 7 : i32
// CHECK-NEXT:    %[[X:.*]] = "test.use"(%[[K]])
// CHECK-NEXT:    scf.if %[[C]] {
// CHECK-NEXT:      "test.use"(%[[K]], %[[X]])
// CHECK-NOT:     arith.constant
func.func @merged(%c: i1) {
  %a = arith.constant 7 : i32
  %x = "test.use"(%a) : (i32) -> i32
  scf.if %c {
    %b = arith.constant 7 : i32
    "test.use"(%b, %x) : (i32, i32) -> ()
  }
  return
}

// Constants of the same value but another type stay apart.

// CHECK-LABEL: func.func @types(
// CHECK-DAG:     %[[I:.*]] = arith.constant 1 : i32
// CHECK-DAG:     %[[J:.*]] = arith.constant 1 : i64
// CHECK:         return %[[I]], %[[J]], %[[I]]
func.func @types() -> (i32, i64, i32) {
  %a = arith.constant 1 : i32
  %b = arith.constant 1 : i64
  %c = arith.constant 1 : i32
  return %a, %b, %c : i32, i64, i32
}

// A chain of folds ends in one constant; what led to it is gone.

// CHECK-LABEL: func.func @chain(
// CHECK-NEXT:    %[[R:.*]] = arith.constant 42 : i32
// CHECK-NEXT:    return %[[R]] : i32
func.func @chain() -> i32 {
  %a = arith.constant 19 : i32
  %b = arith.constant 2 : i32
  %c = arith.addi %a, %b : i32
  %d = arith.muli %c, %b : i32
  return %d : i32
}

// Constants of commutative operations move to the right.

// CHECK-LABEL: func.func @to_the_right(
// CHECK-SAME:    %[[X:.*]]: i32
// CHECK:         %[[C:.*]] = arith.constant 5 : i32
// CHECK-NEXT:    %[[R:.*]] = arith.addi %[[X]], %[[C]] : i32
// CHECK-NEXT:    return %[[R]]
func.func @to_the_right(%x: i32) -> i32 {
  %c = arith.constant 5 : i32
  %r = arith.addi %c, %x : i32
  return %r : i32
}
