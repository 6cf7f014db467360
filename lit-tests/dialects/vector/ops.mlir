// Vectors in custom and generic form.
// RUN: sutura-opt %s --split-input-file | sutura-opt --split-input-file | FileCheck %s
// RUN: sutura-opt %s --split-input-file --print-op-generic | sutura-opt --split-input-file | FileCheck %s

#map = affine_map<(d0, d1) -> (d0)>
// CHECK: func.func @f(%arg0: vector<4xf32>, %arg1: vector<2x4xf32>, %arg2: f32, %arg3: index, %arg4: vector<4xi1>, %arg5: memref<?x?xf32>, %arg6: tensor<?x?xf32>) {
func.func @f(%arg0: vector<4xf32>, %arg1: vector<2x4xf32>, %arg2: f32, %arg3: index, %arg4: vector<4xi1>, %arg5: memref<?x?xf32>, %arg6: tensor<?x?xf32>) {
  // CHECK: %0 = vector.broadcast %arg2 : f32 to vector<4xf32>
  %0 = vector.broadcast %arg2 : f32 to vector<4xf32>
  // CHECK: %1 = vector.broadcast %arg0 : vector<4xf32> to vector<2x4xf32>
  %1 = vector.broadcast %arg0 : vector<4xf32> to vector<2x4xf32>
  // CHECK: %2 = vector.shape_cast %arg1 : vector<2x4xf32> to vector<8xf32>
  %2 = vector.shape_cast %arg1 : vector<2x4xf32> to vector<8xf32>
  // CHECK: %3 = vector.bitcast %arg0 : vector<4xf32> to vector<8xf16>
  %3 = vector.bitcast %arg0 : vector<4xf32> to vector<8xf16>
  // CHECK: %4 = vector.transpose %arg1, [1, 0] : vector<2x4xf32> to vector<4x2xf32>
  %4 = vector.transpose %arg1, [1, 0] : vector<2x4xf32> to vector<4x2xf32>
  // CHECK: %5 = vector.shuffle %arg0, %arg0 [0, 5, -1] : vector<4xf32>, vector<4xf32>
  %5 = vector.shuffle %arg0, %arg0 [0, 5, -1] : vector<4xf32>, vector<4xf32>
  // CHECK: %6 = vector.shuffle %arg1, %arg1 [3] : vector<2x4xf32>, vector<2x4xf32>
  %6 = vector.shuffle %arg1, %arg1 [3] : vector<2x4xf32>, vector<2x4xf32>
  // CHECK: %7 = vector.extract %arg1[1, %arg3] : f32 from vector<2x4xf32>
  %7 = vector.extract %arg1[1, %arg3] : f32 from vector<2x4xf32>
  // CHECK: %8 = vector.extract %arg1[1] : vector<4xf32> from vector<2x4xf32>
  %8 = vector.extract %arg1[1] : vector<4xf32> from vector<2x4xf32>
  // CHECK: %9 = vector.insert %arg0, %arg1 [1] : vector<4xf32> into vector<2x4xf32>
  %9 = vector.insert %arg0, %arg1 [1] : vector<4xf32> into vector<2x4xf32>
  // CHECK: %10 = vector.insert %arg2, %arg1 [%arg3, 2] : f32 into vector<2x4xf32>
  %10 = vector.insert %arg2, %arg1 [%arg3, 2] : f32 into vector<2x4xf32>
  // CHECK: %11 = vector.from_elements %arg2, %arg2 : vector<2xf32>
  %11 = vector.from_elements %arg2, %arg2 : vector<2xf32>
  // CHECK: %12 = vector.extract_strided_slice %arg1 {offsets = [0, 2], sizes = [1, 2], strides = [1, 1]} : vector<2x4xf32> to vector<1x2xf32>
  %12 = vector.extract_strided_slice %arg1 {offsets = [0, 2], sizes = [1, 2], strides = [1, 1]} : vector<2x4xf32> to vector<1x2xf32>
  // CHECK: %13 = vector.insert_strided_slice %12, %arg1 {offsets = [1, 1], strides = [1, 1]} : vector<1x2xf32> into vector<2x4xf32>
  %13 = vector.insert_strided_slice %12, %arg1 {offsets = [1, 1], strides = [1, 1]} : vector<1x2xf32> into vector<2x4xf32>
  // CHECK: %14 = vector.step : vector<4xindex>
  %14 = vector.step : vector<4xindex>
  // CHECK: %15 = vector.create_mask %arg3 : vector<4xi1>
  %15 = vector.create_mask %arg3 : vector<4xi1>
  // CHECK: %16 = vector.constant_mask [3] : vector<4xi1>
  %16 = vector.constant_mask [3] : vector<4xi1>
  // CHECK: %17 = vector.fma %arg0, %arg0, %arg0 : vector<4xf32>
  %17 = vector.fma %arg0, %arg0, %arg0 : vector<4xf32>
  // CHECK: %18 = vector.reduction <maximumf>, %arg0 : vector<4xf32> into f32
  %18 = vector.reduction <maximumf>, %arg0 : vector<4xf32> into f32
  // CHECK: %19 = vector.reduction <add>, %arg0, %arg2 : vector<4xf32> into f32
  %19 = vector.reduction <add>, %arg0, %arg2 : vector<4xf32> into f32
  // CHECK: %20 = vector.from_elements %arg2, %arg2 : vector<2xf32>
  %20 = vector.from_elements %arg2, %arg2 : vector<2xf32>
  // CHECK: %21 = vector.outerproduct %20, %arg0 : vector<2xf32>, vector<4xf32>
  %21 = vector.outerproduct %20, %arg0 : vector<2xf32>, vector<4xf32>
  // CHECK: %22 = vector.outerproduct %20, %arg0, %arg1 {kind = #vector.kind<maxnumf>} : vector<2xf32>, vector<4xf32>
  %22 = vector.outerproduct %20, %arg0, %arg1 {kind = #vector.kind<maxnumf>} : vector<2xf32>, vector<4xf32>
  // CHECK: %23 = vector.load %arg5[%arg3, %arg3] {alignment = 16 : i64} : memref<?x?xf32>, vector<4xf32>
  %23 = vector.load %arg5[%arg3, %arg3] {alignment = 16 : i64} : memref<?x?xf32>, vector<4xf32>
  // CHECK: vector.store %arg0, %arg5[%arg3, %arg3] : memref<?x?xf32>, vector<4xf32>
  vector.store %arg0, %arg5[%arg3, %arg3] : memref<?x?xf32>, vector<4xf32>
  // CHECK: %24 = vector.maskedload %arg5[%arg3, %arg3], %arg4, %arg0 : memref<?x?xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  %24 = vector.maskedload %arg5[%arg3, %arg3], %arg4, %arg0 : memref<?x?xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  // CHECK: vector.maskedstore %arg5[%arg3, %arg3], %arg4, %arg0 {alignment = 4 : i64} : memref<?x?xf32>, vector<4xi1>, vector<4xf32>
  vector.maskedstore %arg5[%arg3, %arg3], %arg4, %arg0 {alignment = 4 : i64} : memref<?x?xf32>, vector<4xi1>, vector<4xf32>
  // CHECK: %25 = vector.transfer_read %arg5[%arg3, %arg3], %arg2 {in_bounds = [true], permutation_map = #map} : memref<?x?xf32>, vector<4xf32>
  %25 = vector.transfer_read %arg5[%arg3, %arg3], %arg2 {in_bounds = [true], permutation_map = #map} : memref<?x?xf32>, vector<4xf32>
  // CHECK: %26 = vector.transfer_read %arg6[%arg3, %arg3], %arg2, %arg4 {in_bounds = [true], permutation_map = #map} : tensor<?x?xf32>, vector<4xf32>
  %26 = vector.transfer_read %arg6[%arg3, %arg3], %arg2, %arg4 {in_bounds = [true], permutation_map = #map} : tensor<?x?xf32>, vector<4xf32>
  // CHECK: vector.transfer_write %arg0, %arg5[%arg3, %arg3], %arg4 {in_bounds = [true], permutation_map = #map} : vector<4xf32>, memref<?x?xf32>
  vector.transfer_write %arg0, %arg5[%arg3, %arg3], %arg4 {in_bounds = [true], permutation_map = #map} : vector<4xf32>, memref<?x?xf32>
  // CHECK: %27 = vector.transfer_write %arg0, %arg6[%arg3, %arg3] {in_bounds = [true], permutation_map = #map} : vector<4xf32>, tensor<?x?xf32>
  %27 = vector.transfer_write %arg0, %arg6[%arg3, %arg3] {in_bounds = [true], permutation_map = #map} : vector<4xf32>, tensor<?x?xf32>
  // CHECK: return
  return
}
