// RUN: sutura-opt %s --canonicalize | FileCheck %s
// RUN: sutura-opt %s --canonicalize --mlir-pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=STAT

// Casts fold by their interface: to the same type, back to where they began, and over the cast before where that is
// the same.

// STAT: num-folded

// CHECK-LABEL: func.func @same_type(
// CHECK-NEXT:    return %t, %m
func.func @same_type(%t: tensor<?xf32>, %m: memref<?xf32>) -> (tensor<?xf32>, memref<?xf32>) {
  %0 = tensor.cast %t : tensor<?xf32> to tensor<?xf32>
  %1 = memref.cast %m : memref<?xf32> to memref<?xf32>
  return %0, %1 : tensor<?xf32>, memref<?xf32>
}

// CHECK-LABEL: func.func @back(
// CHECK-NEXT:    return %x, %m, %i, %s
func.func @back(%x: i32, %m: memref<4xf32>, %i: i16, %s: memref<4xf32>)
    -> (i32, memref<4xf32>, i16, memref<4xf32>) {
  %0 = arith.bitcast %x : i32 to f32
  %1 = arith.bitcast %0 : f32 to i32
  %2 = memref.cast %m : memref<4xf32> to memref<?xf32>
  %3 = memref.cast %2 : memref<?xf32> to memref<4xf32>
  %4 = arith.index_cast %i : i16 to index
  %5 = arith.index_cast %4 : index to i16
  %6 = memref.memory_space_cast %s : memref<4xf32> to memref<4xf32, 1>
  %7 = memref.memory_space_cast %6 : memref<4xf32, 1> to memref<4xf32>
  return %1, %3, %5, %7 : i32, memref<4xf32>, i16, memref<4xf32>
}

// CHECK-LABEL: func.func @chains(
// CHECK-NEXT:    %[[B:.*]] = arith.bitcast %v : vector<2xi32> to vector<2xf32>
// CHECK-NEXT:    %[[S:.*]] = arith.extsi %x : i8 to i64
// CHECK-NEXT:    %[[F:.*]] = arith.extf %f : f16 to f64
// CHECK-NEXT:    %[[T:.*]] = tensor.cast %t : tensor<4x?xf32> to tensor<?x5xf32>
// CHECK-NEXT:    return %[[B]], %[[S]], %[[F]], %[[T]]
func.func @chains(%v: vector<2xi32>, %x: i8, %f: f16, %t: tensor<4x?xf32>)
    -> (vector<2xf32>, i64, f64, tensor<?x5xf32>) {
  %0 = arith.bitcast %v : vector<2xi32> to vector<2xf32>
  %1 = arith.bitcast %0 : vector<2xf32> to vector<2xi32>
  %2 = arith.bitcast %1 : vector<2xi32> to vector<2xf32>
  %3 = arith.extsi %x : i8 to i16
  %4 = arith.extsi %3 : i16 to i64
  %5 = arith.extf %f : f16 to f32
  %6 = arith.extf %5 : f32 to f64
  %7 = tensor.cast %t : tensor<4x?xf32> to tensor<?x?xf32>
  %8 = tensor.cast %7 : tensor<?x?xf32> to tensor<?x5xf32>
  return %2, %4, %6, %8 : vector<2xf32>, i64, f64, tensor<?x5xf32>
}

// Bits are lost, rounding happens twice, a check would go.

// CHECK-LABEL: func.func @stay(
// CHECK-COUNT-2: arith.index_cast
// CHECK-COUNT-2: arith.truncf
// CHECK-COUNT-2: tensor.cast
func.func @stay(%x: index, %f: f64, %t: tensor<?xf32>) -> (index, f16, tensor<?xf32>) {
  %0 = arith.index_cast %x : index to i16
  %1 = arith.index_cast %0 : i16 to index
  %2 = arith.truncf %f : f64 to f32
  %3 = arith.truncf %2 : f32 to f16
  %4 = tensor.cast %t : tensor<?xf32> to tensor<4xf32>
  %5 = tensor.cast %4 : tensor<4xf32> to tensor<?xf32>
  return %1, %3, %5 : index, f16, tensor<?xf32>
}
