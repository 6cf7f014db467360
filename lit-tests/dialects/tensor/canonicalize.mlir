// Sizes and elements of tensors and vectors.
// RUN: sutura-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @tens(%n: index, %x: f32) -> (index, f32, f32, vector<8xi1>, f32) {
// CHECK-NEXT: %g = arith.constant 2.000000e+00 : f32
// CHECK-NEXT: %m = vector.constant_mask [3] : vector<8xi1>
// CHECK-NEXT: return %n, %x, %g, %m, %x : index, f32, f32, vector<8xi1>, f32
// CHECK-NEXT: }
func.func @tens(%n: index, %x: f32) -> (index, f32, f32, vector<8xi1>, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %t = tensor.empty(%n) : tensor<?x4xf32>
  %d = tensor.dim %t, %c0 : tensor<?x4xf32>
  %f = tensor.from_elements %x, %x : tensor<2xf32>
  %e = tensor.extract %f[%c1] : tensor<2xf32>
  %k = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %g = tensor.extract %k[%c1] : tensor<2xf32>
  %m = vector.create_mask %c3 : vector<8xi1>
  %v = vector.broadcast %x : f32 to vector<4xf32>
  %h = vector.extract %v[2] : f32 from vector<4xf32>
  return %d, %e, %g, %m, %h : index, f32, f32, vector<8xi1>, f32
}
