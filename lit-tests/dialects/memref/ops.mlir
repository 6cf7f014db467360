// Memory in custom and generic form.
// RUN: sutura-opt %s --split-input-file | sutura-opt --split-input-file | FileCheck %s
// RUN: sutura-opt %s --split-input-file --print-op-generic | sutura-opt --split-input-file | FileCheck %s

#map = affine_map<(d0)[s0] -> (d0 + s0)>
// CHECK: memref.global "private" constant @table : memref<2xf32> = dense<[1.000000e+00, 0.000000e+00]> {alignment = 64 : i64}
memref.global "private" constant @table : memref<2xf32> = dense<[1.000000e+00, 0.000000e+00]> {alignment = 64 : i64}
// CHECK: memref.global @scratch : memref<2xf32> = uninitialized
memref.global @scratch : memref<2xf32> = uninitialized
// CHECK: memref.global @external : memref<2xf32>
memref.global @external : memref<2xf32>
// CHECK: func.func @f(%arg0: memref<?x4xf32>, %arg1: index, %arg2: f32, %arg3: memref<?xi8>) {
func.func @f(%arg0: memref<?x4xf32>, %arg1: index, %arg2: f32, %arg3: memref<?xi8>) {
  // CHECK: %alloc = memref.alloc(%arg1) {alignment = 64 : i64} : memref<?x4xf32>
  %0 = memref.alloc(%arg1) {alignment = 64 : i64} : memref<?x4xf32>
  // CHECK: %alloca = memref.alloca() : memref<4xf32>
  %1 = memref.alloca() : memref<4xf32>
  // CHECK: %alloca_0 = memref.alloca()[%arg1] : memref<4xf32, #map>
  %2 = memref.alloca()[%arg1] : memref<4xf32, #map>
  // CHECK: memref.dealloc %alloc : memref<?x4xf32>
  memref.dealloc %0 : memref<?x4xf32>
  // CHECK: %0 = memref.load %arg0[%arg1, %arg1] : memref<?x4xf32>
  %3 = memref.load %arg0[%arg1, %arg1] : memref<?x4xf32>
  // CHECK: memref.store %arg2, %arg0[%arg1, %arg1] {alignment = 16 : i64} : memref<?x4xf32>
  memref.store %arg2, %arg0[%arg1, %arg1] {alignment = 16 : i64} : memref<?x4xf32>
  // CHECK: %dim = memref.dim %arg0, %arg1 : memref<?x4xf32>
  %4 = memref.dim %arg0, %arg1 : memref<?x4xf32>
  // CHECK: %1 = memref.rank %arg0 : memref<?x4xf32>
  %5 = memref.rank %arg0 : memref<?x4xf32>
  // CHECK: %cast = memref.cast %arg0 : memref<?x4xf32> to memref<8x4xf32>
  %6 = memref.cast %arg0 : memref<?x4xf32> to memref<8x4xf32>
  // CHECK: memref.copy %arg0, %arg0 : memref<?x4xf32> to memref<?x4xf32>
  memref.copy %arg0, %arg0 : memref<?x4xf32> to memref<?x4xf32>
  // CHECK: %subview = memref.subview %arg0[%arg1, 1] [2, %arg1] [1, 2] : memref<?x4xf32> to memref<2x?xf32, strided<[4, 2], offset: ?>>
  %7 = memref.subview %arg0[%arg1, 1] [2, %arg1] [1, 2] : memref<?x4xf32> to memref<2x?xf32, strided<[4, 2], offset: ?>>
  // CHECK: %subview_1 = memref.subview %arg0[%arg1, 0] [1, 4] [1, 1] : memref<?x4xf32> to memref<4xf32, strided<[1], offset: ?>>
  %8 = memref.subview %arg0[%arg1, 0] [1, 4] [1, 1] : memref<?x4xf32> to memref<4xf32, strided<[1], offset: ?>>
  // CHECK: %reinterpret_cast = memref.reinterpret_cast %arg0 to offset: [0], sizes: [%arg1, 2], strides: [2, 1] : memref<?x4xf32> to memref<?x2xf32>
  %9 = memref.reinterpret_cast %arg0 to offset: [0], sizes: [%arg1, 2], strides: [2, 1] : memref<?x4xf32> to memref<?x2xf32>
  // CHECK: %view = memref.view %arg3[%arg1][%arg1] : memref<?xi8> to memref<?x2xf32>
  %10 = memref.view %arg3[%arg1][%arg1] : memref<?xi8> to memref<?x2xf32>
  // CHECK: %expand_shape = memref.expand_shape %arg0 {{\[\[0, 1\], \[2\]\]}} output_shape [%arg1, 2, 4] : memref<?x4xf32> into memref<?x2x4xf32>
  %11 = memref.expand_shape %arg0 [[0, 1], [2]] output_shape [%arg1, 2, 4] : memref<?x4xf32> into memref<?x2x4xf32>
  // CHECK: %collapse_shape = memref.collapse_shape %expand_shape {{\[\[0, 1\], \[2\]\]}} : memref<?x2x4xf32> into memref<?x4xf32>
  %12 = memref.collapse_shape %11 [[0, 1], [2]] : memref<?x2x4xf32> into memref<?x4xf32>
  // CHECK: %2 = memref.get_global @table : memref<2xf32>
  %13 = memref.get_global @table : memref<2xf32>
  // CHECK: %intptr = memref.extract_aligned_pointer_as_index %arg0 : memref<?x4xf32> -> index
  %14 = memref.extract_aligned_pointer_as_index %arg0 : memref<?x4xf32> -> index
  // CHECK: return
  return
}
