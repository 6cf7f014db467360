// RUN: sutura-opt %s --verify-diagnostics --split-input-file --legalize-elements

func.func @four_bits(%x: tensor<4xi4>) -> tensor<2x2xi4> {
  // expected-error @below {{'graph.reshape' op is of tensors of i4, for which nothing is compiled}}
  %0 = graph.reshape %x : tensor<4xi4> -> tensor<2x2xi4>
  return %0 : tensor<2x2xi4>
}

// -----

func.func @complex(%x: tensor<4xcomplex<f32>>) -> tensor<2x2xcomplex<f32>> {
  // expected-error @below {{'graph.reshape' op is of tensors of complex<f32>, for which nothing is compiled}}
  %0 = graph.reshape %x : tensor<4xcomplex<f32>> -> tensor<2x2xcomplex<f32>>
  return %0 : tensor<2x2xcomplex<f32>>
}
