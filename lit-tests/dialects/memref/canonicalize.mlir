// Sizes of allocations, memory that is only written.
// RUN: sutura-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @mem(%n: index) -> (index, index, memref<4x?xf32>) {
// CHECK-NEXT: %d = arith.constant 4 : index
// CHECK-NEXT: %c = memref.alloc(%n) : memref<4x?xf32>
// CHECK-NEXT: return %d, %n, %c : index, index, memref<4x?xf32>
// CHECK-NEXT: }
func.func @mem(%n: index) -> (index, index, memref<4x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %m = memref.alloc(%c4, %n) : memref<?x?xf32>
  %d = memref.dim %m, %c0 : memref<?x?xf32>
  %e = memref.dim %m, %c1 : memref<?x?xf32>
  %c = memref.cast %m : memref<?x?xf32> to memref<4x?xf32>
  %dead = memref.alloc() : memref<4xf32>
  %x = arith.constant 1.0 : f32
  memref.store %x, %dead[%c0] : memref<4xf32>
  memref.dealloc %dead : memref<4xf32>
  return %d, %e, %c : index, index, memref<4x?xf32>
}

// Memory is used as what it was before a cast; views that say what is known, or undo each other, go.
// CHECK-LABEL: func.func @views(
// CHECK-NEXT:  %[[X:.*]] = memref.load %m[%i] : memref<8xf32>
// CHECK-NEXT:  memref.store %[[X]], %m[%i] : memref<8xf32>
// CHECK-NEXT:  memref.copy %m, %n : memref<8xf32> to memref<8xf32>
// CHECK-NEXT:  %[[V:.*]] = vector.load %m[%i] : memref<8xf32>, vector<4xf32>
// CHECK-NEXT:  %[[R:.*]] = memref.reinterpret_cast %m to offset: [0], sizes: [2], strides: [1] : memref<8xf32> to memref<2xf32>
// CHECK-NEXT:  return %[[V]], %[[R]], %m, %n
func.func @views(%m: memref<8xf32>, %n: memref<8xf32>, %z: memref<0xf32>, %i: index)
    -> (vector<4xf32>, memref<2xf32>, memref<8xf32>, memref<8xf32>) {
  %d = memref.cast %m : memref<8xf32> to memref<?xf32>
  %x = memref.load %d[%i] : memref<?xf32>
  memref.store %x, %d[%i] : memref<?xf32>
  memref.copy %d, %n : memref<?xf32> to memref<8xf32>
  memref.copy %z, %z : memref<0xf32> to memref<0xf32>
  %0 = vector.load %d[%i] : memref<?xf32>, vector<4xf32>
  %a = memref.reinterpret_cast %d to offset: [0], sizes: [4], strides: [1] : memref<?xf32> to memref<4xf32>
  %1 = memref.reinterpret_cast %a to offset: [0], sizes: [2], strides: [1] : memref<4xf32> to memref<2xf32>
  %b = memref.expand_shape %m [[0, 1]] output_shape [2, 4] : memref<8xf32> into memref<2x4xf32>
  %2 = memref.collapse_shape %b [[0, 1]] : memref<2x4xf32> into memref<8xf32>
  %3 = memref.transpose %n (j) -> (j) : memref<8xf32> to memref<8xf32>
  return %0, %1, %2, %3 : vector<4xf32>, memref<2xf32>, memref<8xf32>, memref<8xf32>
}
