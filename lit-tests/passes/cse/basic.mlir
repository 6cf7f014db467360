// RUN: sutura-opt %s --cse | FileCheck %s
// RUN: sutura-opt %s --pass-pipeline='builtin.module(func.func(cse))' | FileCheck %s

// CHECK-LABEL: func.func @same(
// CHECK-SAME:    %[[X:.*]]: i32, %[[Y:.*]]: i32
// CHECK-NEXT:    %[[S:.*]] = arith.addi %[[X]], %[[Y]] : i32
// CHECK-NEXT:    %[[P:.*]] = arith.muli %[[S]], %[[S]] : i32
// CHECK-NEXT:    return %[[P]]
func.func @same(%x: i32, %y: i32) -> i32 {
  %a = arith.addi %x, %y : i32
  %b = arith.addi %x, %y : i32
  %p = arith.muli %a, %b : i32
  return %p : i32
}

// The order of operands matters unless the operation commutes.

// CHECK-LABEL: func.func @order(
// CHECK-NEXT:    %[[A:.*]] = arith.addi
// CHECK-NEXT:    %[[B:.*]] = arith.subi
// CHECK-NEXT:    %[[C:.*]] = arith.subi
// CHECK-NEXT:    return %[[A]], %[[A]], %[[B]], %[[C]]
func.func @order(%x: i32, %y: i32) -> (i32, i32, i32, i32) {
  %a = arith.addi %x, %y : i32
  %b = arith.addi %y, %x : i32
  %c = arith.subi %x, %y : i32
  %d = arith.subi %y, %x : i32
  return %a, %b, %c, %d : i32, i32, i32, i32
}

// Attributes and result types tell operations apart.

// CHECK-LABEL: func.func @different(
// CHECK:         arith.cmpi slt
// CHECK-NEXT:    arith.cmpi sgt
// CHECK-NEXT:    arith.extsi %{{.*}} : i32 to i64
// CHECK-NEXT:    arith.extsi %{{.*}} : i32 to i48
func.func @different(%x: i32, %y: i32) -> (i1, i1, i64, i48) {
  %a = arith.cmpi slt, %x, %y : i32
  %b = arith.cmpi sgt, %x, %y : i32
  %c = arith.extsi %x : i32 to i64
  %d = arith.extsi %x : i32 to i48
  return %a, %b, %c, %d : i1, i1, i64, i48
}
