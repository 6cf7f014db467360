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
