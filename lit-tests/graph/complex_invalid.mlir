// RUN: sutura-opt %s --split-input-file --verify-diagnostics

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @max(%x: tensor<4x3xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  // expected-error @below {{combiner 'max' joins no numbers of result 0's element type}}
  %0 = graph.compute ins(%x : tensor<4x3xcomplex<f32>>) -> tensor<4xcomplex<f32>> {iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #row], combiners = #graph.combiners<[max]>} {
  ^bb0(%a: complex<f32>):
    graph.yield %a : complex<f32>
  }
  return %0 : tensor<4xcomplex<f32>>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @product(%x: tensor<4x3xcomplex<f32>>) -> (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) {
  // expected-error @below {{result 1 is a product of complex numbers, which is made beside no other result}}
  %0, %1 = graph.compute ins(%x : tensor<4x3xcomplex<f32>>) -> tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>> {iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #row, #row], combiners = #graph.combiners<[add, mul]>} {
  ^bb0(%a: complex<f32>):
    graph.yield %a, %a : complex<f32>, complex<f32>
  }
  return %0, %1 : tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>
}

// -----

func.func @parts(%x: tensor<4x3xcomplex<f32>>) -> tensor<4x6xf32> {
  // expected-error @below {{takes complex elements for their parts, which have one more dimension, the last one, of size 2}}
  %0 = graph.bitcast %x : tensor<4x3xcomplex<f32>> -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

func.func @sizes(%x: tensor<4x3xcomplex<f32>>) -> tensor<3x4x2xf32> {
  // expected-error @below {{takes complex elements for their parts, which have one more dimension, the last one, of size 2}}
  %0 = graph.bitcast %x : tensor<4x3xcomplex<f32>> -> tensor<3x4x2xf32>
  return %0 : tensor<3x4x2xf32>
}

// -----

func.func @words(%x: tensor<4xcomplex<f32>>) -> tensor<4xi64> {
  // expected-error @below {{takes elements for elements of another width}}
  %0 = graph.bitcast %x : tensor<4xcomplex<f32>> -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// -----

func.func @scan(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  // expected-error @below {{combiner 'max' joins no numbers of this element type}}
  %0 = graph.scan %x {axis = 0, combiner = #graph.combiner<max>} : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

// -----

func.func @scatter(%x: tensor<4xcomplex<f32>>, %i: tensor<2xi64>, %u: tensor<2xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  // expected-error @below {{combiner 'min' joins no numbers of this element type}}
  %0 = graph.scatter %x, %i, %u {axis = 0 : i64, combiner = #graph.combiner<min>} : tensor<4xcomplex<f32>>, tensor<2xi64>, tensor<2xcomplex<f32>> -> tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}
