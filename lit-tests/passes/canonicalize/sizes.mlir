// RUN: sutura-opt %s --canonicalize | FileCheck %s

// `dim` asks the op that makes a value for its sizes, and goes on to what has the same.

// CHECK-LABEL: func.func @made_of_values(
// CHECK-NEXT:    return %n, %n, %n, %n
func.func @made_of_values(%n: index, %x: f32) -> (index, index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty(%n) : tensor<4x?xf32>
  %i = tensor.insert %x into %e[%c0, %c0] : tensor<4x?xf32>
  %a = arith.addf %i, %i : tensor<4x?xf32>
  %0 = tensor.dim %a, %c1 : tensor<4x?xf32>
  %s = tensor.splat %x[%n] : tensor<?xf32>
  %1 = tensor.dim %s, %c0 : tensor<?xf32>
  %m = memref.alloc(%n) : memref<?x8xf32>
  %c = memref.cast %m : memref<?x8xf32> to memref<?x?xf32>
  %2 = memref.dim %c, %c0 : memref<?x?xf32>
  %v = memref.subview %m[0, 0] [%n, 4] [1, 1] : memref<?x8xf32> to memref<?x4xf32, strided<[8, 1]>>
  %3 = memref.dim %v, %c0 : memref<?x4xf32, strided<[8, 1]>>
  return %0, %1, %2, %3 : index, index, index, index
}

// CHECK-LABEL: func.func @known(
// CHECK-DAG:     %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : index
// CHECK-NEXT:    return %[[C8]], %[[C3]]
func.func @known(%m: memref<4x8xf32>, %t: tensor<?x?xf32>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c = memref.cast %m : memref<4x8xf32> to memref<?x?xf32>
  %0 = memref.dim %c, %c1 : memref<?x?xf32>
  %s = tensor.extract_slice %t[0, 0] [3, 3] [1, 1] : tensor<?x?xf32> to tensor<3x3xf32>
  %d = tensor.cast %s : tensor<3x3xf32> to tensor<?x?xf32>
  %1 = tensor.dim %d, %c0 : tensor<?x?xf32>
  return %0, %1 : index, index
}

// A dimension may be another one of the source.

// CHECK-LABEL: func.func @moved(
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK:         %[[CO:.*]] = tensor.collapse_shape
// CHECK-NEXT:    %[[A:.*]] = tensor.dim %t, %[[C2]]
// CHECK-NEXT:    %[[B:.*]] = tensor.dim %[[CO]]
// CHECK-NEXT:    %[[C:.*]] = tensor.dim %u, %[[C1]]
// CHECK-NEXT:    return %[[A]], %[[B]], %[[C]]
func.func @moved(%t: tensor<?x4x?xf32>, %u: tensor<?x?xf32>) -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c = tensor.collapse_shape %t [[0, 1], [2]] : tensor<?x4x?xf32> into tensor<?x?xf32>
  %0 = tensor.dim %c, %c1 : tensor<?x?xf32>
  %1 = tensor.dim %c, %c0 : tensor<?x?xf32>
  %n = arith.negf %u : tensor<?x?xf32>
  %2 = tensor.dim %n, %c1 : tensor<?x?xf32>
  return %0, %1, %2 : index, index, index
}

// Nothing is known of a dropped dimension's neighbours, of a dimension that is not there, of one known at run time.

// CHECK-LABEL: func.func @stay(
// CHECK-COUNT-3: memref.dim
func.func @stay(%m: memref<?x?xf32>, %n: index) -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %v = memref.subview %m[0, 0] [1, %n] [1, 1] : memref<?x?xf32> to memref<?xf32, strided<[1]>>
  %0 = memref.dim %v, %c0 : memref<?xf32, strided<[1]>>
  %1 = memref.dim %m, %c7 : memref<?x?xf32>
  %2 = memref.dim %m, %n : memref<?x?xf32>
  return %0, %1, %2 : index, index, index
}
