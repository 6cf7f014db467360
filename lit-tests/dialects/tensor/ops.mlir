// Tensor values in custom and generic form.
// RUN: sutura-opt %s --split-input-file | sutura-opt --split-input-file | FileCheck %s
// RUN: sutura-opt %s --split-input-file --print-op-generic | sutura-opt --split-input-file | FileCheck %s

// CHECK: func.func @f(%arg0: tensor<?x4xf32>, %arg1: index, %arg2: f32) {
func.func @f(%arg0: tensor<?x4xf32>, %arg1: index, %arg2: f32) {
  // CHECK: %cast = tensor.cast %arg0 : tensor<?x4xf32> to tensor<8x4xf32>
  %0 = tensor.cast %arg0 : tensor<?x4xf32> to tensor<8x4xf32>
  // CHECK: %dim = tensor.dim %arg0, %arg1 : tensor<?x4xf32>
  %1 = tensor.dim %arg0, %arg1 : tensor<?x4xf32>
  // CHECK: %rank = tensor.rank %arg0 : tensor<?x4xf32>
  %2 = tensor.rank %arg0 : tensor<?x4xf32>
  // CHECK: %0 = tensor.empty(%arg1) : tensor<?x4xf32>
  %3 = tensor.empty(%arg1) : tensor<?x4xf32>
  // CHECK: %1 = tensor.empty() : tensor<2xf32>
  %4 = tensor.empty() : tensor<2xf32>
  // CHECK: %extracted = tensor.extract %arg0[%arg1, %arg1] : tensor<?x4xf32>
  %5 = tensor.extract %arg0[%arg1, %arg1] : tensor<?x4xf32>
  // CHECK: %inserted = tensor.insert %arg2 into %arg0[%arg1, %arg1] : tensor<?x4xf32>
  %6 = tensor.insert %arg2 into %arg0[%arg1, %arg1] : tensor<?x4xf32>
  // CHECK: %from_elements = tensor.from_elements %arg2, %arg2 : tensor<2xf32>
  %7 = tensor.from_elements %arg2, %arg2 : tensor<2xf32>
  // CHECK: %from_elements_0 = tensor.from_elements %arg2 : tensor<f32>
  %8 = tensor.from_elements %arg2 : tensor<f32>
  // CHECK: %splat = tensor.splat %arg2[%arg1] : tensor<?x4xf32>
  %9 = tensor.splat %arg2[%arg1] : tensor<?x4xf32>
  // CHECK: %splat_1 = tensor.splat %arg2 : tensor<4xf32>
  %10 = tensor.splat %arg2 : tensor<4xf32>
  // CHECK: %extracted_slice = tensor.extract_slice %arg0[%arg1, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<4xf32>
  %11 = tensor.extract_slice %arg0[%arg1, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<4xf32>
  // CHECK: %inserted_slice = tensor.insert_slice %extracted_slice into %arg0[%arg1, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<?x4xf32>
  %12 = tensor.insert_slice %11 into %arg0[%arg1, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<?x4xf32>
  // CHECK: %expanded = tensor.expand_shape %arg0 {{\[\[}}0, 1], [2]] output_shape [%arg1, 2, 4] : tensor<?x4xf32> into tensor<?x2x4xf32>
  %13 = tensor.expand_shape %arg0 [[0, 1], [2]] output_shape [%arg1, 2, 4] : tensor<?x4xf32> into tensor<?x2x4xf32>
  // CHECK: %collapsed = tensor.collapse_shape %expanded {{\[\[}}0, 1], [2]] : tensor<?x2x4xf32> into tensor<?x4xf32>
  %14 = tensor.collapse_shape %13 [[0, 1], [2]] : tensor<?x2x4xf32> into tensor<?x4xf32>
  // CHECK: %padded = tensor.pad %arg0 low[0, %arg1] high[2, 1] {
  %15 = tensor.pad %arg0 low[0, %arg1] high[2, 1] {
  // CHECK: ^bb0(%arg3: index, %arg4: index):
  ^bb0(%arg3: index, %arg4: index):
    // CHECK: tensor.yield %arg2 : f32
    tensor.yield %arg2 : f32
  // CHECK: } : tensor<?x4xf32> to tensor<?x?xf32>
  } : tensor<?x4xf32> to tensor<?x?xf32>
  // CHECK: %generated = tensor.generate %arg1 {
  %16 = tensor.generate %arg1 {
  // CHECK: ^bb0(%arg3: index, %arg4: index):
  ^bb0(%arg3: index, %arg4: index):
    // CHECK: tensor.yield %arg2 : f32
    tensor.yield %arg2 : f32
  // CHECK: } : tensor<?x4xf32>
  } : tensor<?x4xf32>
  // CHECK: return
  return
}
