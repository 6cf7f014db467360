// RUN: sutura-opt %s --split-input-file --split-complex --verify-diagnostics

#one = affine_map<(d0) -> (d0)>

func.func @half(%x: tensor<4xcomplex<f16>>) -> tensor<2x2xcomplex<f16>> {
  // expected-error @below {{'graph.reshape' op is of tensors of complex<f16>, for which nothing is compiled}}
  %0 = graph.reshape %x : tensor<4xcomplex<f16>> -> tensor<2x2xcomplex<f16>>
  return %0 : tensor<2x2xcomplex<f16>>
}

// -----

#one = affine_map<(d0) -> (d0)>

func.func @joined(%x: tensor<4xcomplex<f32>>, %i: tensor<2xi64>, %u: tensor<2xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %0 = graph.scatter %x, %i, %u {axis = 0 : i64} : tensor<4xcomplex<f32>>, tensor<2xi64>, tensor<2xcomplex<f32>> -> tensor<4xcomplex<f32>> combine {
  ^bb0(%old: complex<f32>, %new: complex<f32>):
    // expected-error @below {{computes with complex numbers, and is no op of 'complex'}}
    %p = builtin.unrealized_conversion_cast %new : complex<f32> to complex<f32>
    graph.yield %p : complex<f32>
  }
  return %0 : tensor<4xcomplex<f32>>
}

// -----

func.func @scanned(%x: tensor<4xcomplex<f16>>) -> tensor<4xcomplex<f16>> {
  // expected-error @below {{'graph.scan' op is of tensors of complex<f16>, for which nothing is compiled}}
  %0 = graph.scan %x {axis = 0 : i64, combiner = #graph.combiner<mul>} : tensor<4xcomplex<f16>> -> tensor<4xcomplex<f16>>
  return %0 : tensor<4xcomplex<f16>>
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
