// RUN: sutura-opt %s --split-input-file --split-complex --verify-diagnostics

#one = affine_map<(d0) -> (d0)>

func.func @half(%x: tensor<4xcomplex<f16>>) -> tensor<2x2xcomplex<f16>> {
  // expected-error @below {{'graph.reshape' op is of tensors of complex<f16>, for which nothing is compiled}}
  %0 = graph.reshape %x : tensor<4xcomplex<f16>> -> tensor<2x2xcomplex<f16>>
  return %0 : tensor<2x2xcomplex<f16>>
}

// -----

#one = affine_map<(d0) -> (d0)>

func.func @other(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %0 = graph.compute ins(%x : tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {iterators = #graph.iterators<[parallel]>, maps = [#one, #one]} {
  ^bb0(%a: complex<f32>):
    // expected-error @below {{computes with complex numbers, and is no op of 'complex'}}
    %b = builtin.unrealized_conversion_cast %a : complex<f32> to complex<f32>
    graph.yield %b : complex<f32>
  }
  return %0 : tensor<4xcomplex<f32>>
}
