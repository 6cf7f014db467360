// RUN: sutura-opt %s --reconcile-unrealized-casts --remarks 2>&1 | FileCheck %s

// CHECK-LABEL: func.func @there_and_back(
// CHECK-SAME:    %[[X:.*]]: i64
// CHECK-NEXT:    return %[[X]]
func.func @there_and_back(%x: i64) -> i64 {
  %0 = builtin.unrealized_conversion_cast %x : i64 to index
  %1 = builtin.unrealized_conversion_cast %0 : index to i64
  return %1 : i64
}

// CHECK-LABEL: func.func @chain(
// CHECK-SAME:    %[[X:.*]]: i64
// CHECK-NEXT:    return %[[X]]
func.func @chain(%x: i64) -> i64 {
  %0 = builtin.unrealized_conversion_cast %x : i64 to index
  %1 = builtin.unrealized_conversion_cast %0 : index to f32
  %2 = builtin.unrealized_conversion_cast %1 : f32 to i64
  return %2 : i64
}

// One value and several.

// CHECK-LABEL: func.func @several(
// CHECK-SAME:    %[[X:.*]]: i32, %[[Y:.*]]: i64
// CHECK-NEXT:    return %[[X]], %[[Y]]
func.func @several(%x: i32, %y: i64) -> (i32, i64) {
  %0 = builtin.unrealized_conversion_cast %x, %y : i32, i64 to f32
  %1:2 = builtin.unrealized_conversion_cast %0 : f32 to i32, i64
  return %1#0, %1#1 : i32, i64
}

// In another order it is another value.

// CHECK-LABEL: func.func @order(
// CHECK:         %[[A:.*]]:2 = builtin.unrealized_conversion_cast
// CHECK:         %[[B:.*]] = builtin.unrealized_conversion_cast %[[A]]#1, %[[A]]#0
// CHECK:         return %[[B]]
func.func @order(%x: f32) -> f32 {
  %0:2 = builtin.unrealized_conversion_cast %x : f32 to i32, i32
  %1 = builtin.unrealized_conversion_cast %0#1, %0#0 : i32, i32 to f32
  return %1 : f32
}

// What is used elsewhere stays.

// CHECK-LABEL: func.func @used(
// CHECK-SAME:    %[[X:.*]]: i64
// CHECK-NEXT:    %[[C:.*]] = builtin.unrealized_conversion_cast %[[X]] : i64 to index
// CHECK-NEXT:    return %[[X]], %[[C]]
func.func @used(%x: i64) -> (i64, index) {
  %0 = builtin.unrealized_conversion_cast %x : i64 to index
  %1 = builtin.unrealized_conversion_cast %0 : index to i64
  return %1, %0 : i64, index
}

// CHECK-LABEL: func.func @dead(
// CHECK-NEXT:    return
func.func @dead(%x: i64) {
  %0 = builtin.unrealized_conversion_cast %x : i64 to index
  %1 = builtin.unrealized_conversion_cast %0 : index to f32
  return
}

// CHECK-LABEL: func.func @region(
// CHECK-SAME:    %[[X:.*]]: i64, %[[C:.*]]: i1
// CHECK-NEXT:    scf.if %[[C]] -> (i64) {
// CHECK-NEXT:      scf.yield %[[X]] : i64
func.func @region(%x: i64, %c: i1) -> i64 {
  %0 = builtin.unrealized_conversion_cast %x : i64 to index
  %r = scf.if %c -> (i64) {
    %1 = builtin.unrealized_conversion_cast %0 : index to i64
    scf.yield %1 : i64
  } else {
    scf.yield %x : i64
  }
  return %r : i64
}
