// RUN: sutura-opt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 0.5>
func.func @computed(%x: tensor<4x!q>) -> tensor<4x!q> {
  // expected-error @below {{computes with elements of !quant.uniform<i8:f32, 5.000000e-01>, which are stored integers}}
  %0 = graph.compute ins(%x : tensor<4x!q>) -> tensor<4x!q> {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
  ^bb0(%a: !q):
    %b = quant.scast %a : !q to i8
    %c = quant.scast %b : i8 to !q
    graph.yield %c : !q
  }
  return %0 : tensor<4x!q>
}

// -----

!q = !quant.uniform<i8:f32, 0.5>
func.func @summed(%x: tensor<4x!q>) -> tensor<!q> {
  // expected-error @below {{computes with elements of !quant.uniform<i8:f32, 5.000000e-01>, which are stored integers}}
  %0 = graph.compute ins(%x : tensor<4x!q>) -> tensor<!q> {iterators = #graph.iterators<[reduce]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], combiners = #graph.combiners<[add]>} {
  ^bb0(%a: !q):
    graph.yield %a : !q
  }
  return %0 : tensor<!q>
}

// -----

!q = !quant.uniform<i8:f32:0, {1.0, 2.0, 3.0, 4.0}>
func.func @sliced(%x: tensor<4x!q>) -> tensor<4x!q> {
  // expected-error @below {{moves elements of !quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00,3.000000e+00,4.000000e+00}>, whose scales belong to positions}}
  %0 = graph.slice %x {axes = array<i64: 0>, starts = array<i64: 3>, ends = array<i64: -9223372036854775808>, steps = array<i64: -1>} : tensor<4x!q> -> tensor<4x!q>
  return %0 : tensor<4x!q>
}

// -----

!q = !quant.uniform<i8:f32:0, {1.0, 2.0}>
func.func @sizes(%x: tensor<4x2x!q>) -> tensor<4x1x!q> {
  // expected-error @below {{quantized dimension size does not match number of scales: dimension 0 has size 4, there are 2 scales}}
  %0 = graph.slice %x {axes = array<i64: 1>, starts = array<i64: 0>, ends = array<i64: 1>, steps = array<i64: 1>} : tensor<4x2x!q> -> tensor<4x1x!q>
  return %0 : tensor<4x1x!q>
}

// -----

!q = !quant.uniform<i8:f32:0, {1.0, 2.0}>
func.func @concatenated(%x: tensor<?x!q>) -> tensor<?x!q> {
  // expected-error @below {{dimension 0 of operand 1 stands behind tensors of which the types do not say the sizes}}
  %0 = graph.concat %x, %x {axis = 0} : tensor<?x!q>, tensor<?x!q> -> tensor<?x!q>
  return %0 : tensor<?x!q>
}

// -----

// The scales are along another dimension afterwards.
!q = !quant.uniform<i8:f32:0, {1.0, 2.0}>
func.func @reshaped(%x: tensor<2x2x!q>) -> tensor<1x2x2x!q> {
  // expected-error @below {{quantized dimension size does not match number of scales: dimension 0 has size 1, there are 2 scales}}
  %0 = graph.reshape %x : tensor<2x2x!q> -> tensor<1x2x2x!q>
  return %0 : tensor<1x2x2x!q>
}

// -----

!q = !quant.uniform<i8:f32:1, {1.0, 2.0}>
func.func @gathered(%x: tensor<2x2x!q>, %i: tensor<2xi64>) -> tensor<2x2x!q> {
  // expected-error @below {{dimension 1 of operand 0 is indexed by data}}
  %0 = graph.gather %x, %i {axis = 1} : tensor<2x2x!q>, tensor<2xi64> -> tensor<2x2x!q>
  return %0 : tensor<2x2x!q>
}

// -----

// What is behind the indexed dimension moves where indices have two.
!q = !quant.uniform<i8:f32:1, {1.0, 2.0}>
func.func @gathered_behind(%x: tensor<2x2x!q>, %i: tensor<2x2xi64>) -> tensor<2x2x2x!q> {
  // expected-error @below {{what has one scale in the result, number [0, 0, 0], has several along dimension 1 of operand 0}}
  %0 = graph.gather %x, %i {axis = 0} : tensor<2x2x!q>, tensor<2x2xi64> -> tensor<2x2x2x!q>
  return %0 : tensor<2x2x2x!q>
}

// -----

!q = !quant.uniform<i8:f32:0, {1.0, 2.0}>
func.func @transposed(%x: tensor<2x2x!q>) -> tensor<2x2x!q> {
  // expected-error @below {{what has one scale in the result, number [0, 0], has several along dimension 0 of operand 0}}
  %0 = graph.compute ins(%x : tensor<2x2x!q>) -> tensor<2x2x!q> {iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>]} {
  ^bb0(%a: !q):
    graph.yield %a : !q
  }
  return %0 : tensor<2x2x!q>
}

// -----

!q = !quant.uniform<i8:f32:{0:2}, {1.0, 2.0}>
!r = !quant.uniform<i8:f32:{0:2}, {1.0, 3.0}>
func.func @blocks(%x: tensor<4x!q>) -> tensor<4x!r> {
  // expected-error @below {{moves elements of !quant.uniform<i8:f32:{0:2}, {1.000000e+00, 2.000000e+00}>, whose scales belong to positions: scale number [1] of the result is 3 with zero point 0, that of its elements is number [1] of operand 0, 2 with 0}}
  %0 = graph.reshape %x : tensor<4x!q> -> tensor<4x!r>
  return %0 : tensor<4x!r>
}

// -----

// A block of the result has elements of two blocks.
!q = !quant.uniform<i8:f32:{0:2}, {1.0, 2.0}>
!r = !quant.uniform<i8:f32, 1.0>
func.func @unaligned(%x: tensor<4x!q>) -> tensor<2x!r> {
  // expected-error @below {{what has one scale in the result, number [0], has several along dimension 0 of operand 0}}
  %0 = graph.slice %x {axes = array<i64: 0>, starts = array<i64: 1>, ends = array<i64: 3>, steps = array<i64: 1>} : tensor<4x!q> -> tensor<2x!r>
  return %0 : tensor<2x!r>
}

// -----

!q = !quant.uniform<i8:f32:{0:2}, {1.0, 2.0}>
!r = !quant.uniform<i8:f32:0, {1.0, 1.0, 2.0}>
func.func @shifted(%x: tensor<4x!q>) -> tensor<3x!r> {
  // expected-error @below {{scale number [1] of the result is 1 with zero point 0, that of its elements is number [1] of operand 0, 2 with 0}}
  %0 = graph.slice %x {axes = array<i64: 0>, starts = array<i64: 1>, ends = array<i64: 4>, steps = array<i64: 1>} : tensor<4x!q> -> tensor<3x!r>
  return %0 : tensor<3x!r>
}

// -----

!q = !quant.uniform<i8:f32:0, {1.0, 2.0}>
!r = !quant.uniform<i8:f32:0, {2.0, 1.0}>
func.func @size_of_cut(%x: tensor<?x!q>) -> tensor<2x!r> {
  // expected-error @below {{dimension 0 of operand 0 is cut, and the type does not say its size}}
  %0 = graph.slice %x {axes = array<i64: 0>, starts = array<i64: -1>, ends = array<i64: -9>, steps = array<i64: -1>} : tensor<?x!q> -> tensor<2x!r>
  return %0 : tensor<2x!r>
}

// -----

!q = !quant.uniform<i8:f32:0, {1.0, 2.0}>
func.func @bounds(%x: tensor<2x!q>, %s: tensor<1xi64>) -> tensor<2x!q> {
  // expected-error @below {{dimension 0 of operand 0 is cut at places that are not constant}}
  %0 = graph.slice %x[%s, %s] {axes = array<i64: 0>, steps = array<i64: 1>} : tensor<2x!q>, tensor<1xi64>, tensor<1xi64> -> tensor<2x!q>
  return %0 : tensor<2x!q>
}

// -----

!q = !quant.uniform<i8:f32:0, {1.0, 1.0}>
func.func @behind(%y: tensor<?x!quant.uniform<i8:f32, 1.0>>, %z: tensor<2x!q>) -> tensor<?x!q> {
  // expected-error @below {{dimension 0 of operand 1 stands behind tensors of which the types do not say the sizes}}
  %0 = graph.concat %y, %z {axis = 0} : tensor<?x!quant.uniform<i8:f32, 1.0>>, tensor<2x!q> -> tensor<?x!q>
  return %0 : tensor<?x!q>
}

// -----

!q = !quant.uniform<i8:f32:1, {1.0, 2.0}>
!r = !quant.uniform<i8:f32:0, {1.0, 2.0}>
func.func @not_known(%x: tensor<?x2x?x!q>) -> tensor<2x?x3x!r> {
  // expected-error @below {{dimension 1 of operand 0 is reshaped with sizes that are not known}}
  %0 = graph.reshape %x : tensor<?x2x?x!q> -> tensor<2x?x3x!r>
  return %0 : tensor<2x?x3x!r>
}

// -----

!q = !quant.uniform<i8:f32:1, {1.0, 2.0}>
func.func @elements(%x: tensor<2x2x!q>, %i: tensor<2x2xi64>) -> tensor<2x2x!q> {
  // expected-error @below {{dimension 1 of operand 0 is indexed by data}}
  %0 = graph.gather_elements %x, %i {axis = 1} : tensor<2x2x!q>, tensor<2x2xi64> -> tensor<2x2x!q>
  return %0 : tensor<2x2x!q>
}

// -----

!q = !quant.uniform<i8:f32:0, {1.0, 2.0}>
func.func @nd(%x: tensor<2x2x!q>, %i: tensor<2x1xi64>) -> tensor<2x2x!q> {
  // expected-error @below {{dimension 0 of operand 0 is indexed by data}}
  %0 = graph.gather_nd %x, %i : tensor<2x2x!q>, tensor<2x1xi64> -> tensor<2x2x!q>
  return %0 : tensor<2x2x!q>
}

// -----

!q = !quant.uniform<i8:f32:0, {1.0, 2.0}>
func.func @updates(%x: tensor<2x2x!q>, %i: tensor<2x2xi64>) -> tensor<2x2x!q> {
  // expected-error @below {{dimension 0 of operand 2 is indexed by data}}
  %0 = graph.scatter %x, %i, %x {axis = 0} : tensor<2x2x!q>, tensor<2x2xi64>, tensor<2x2x!q> -> tensor<2x2x!q>
  return %0 : tensor<2x2x!q>
}

// -----

!q = !quant.uniform<i8:f32, 1.0>
func.func @joined(%x: tensor<2x!q>, %i: tensor<2xi64>) -> tensor<2x!q> {
  // expected-error @below {{computes with elements of !quant.uniform<i8:f32, 1.000000e+00>, which are stored integers}}
  %0 = graph.scatter %x, %i, %x {axis = 0} : tensor<2x!q>, tensor<2xi64>, tensor<2x!q> -> tensor<2x!q> combine {
  ^bb0(%a: !q, %b: !q):
    graph.yield %b : !q
  }
  return %0 : tensor<2x!q>
}

// -----

// A number has one scale, and is what it was.
!q = !quant.uniform<i8:f32, 1.0>
!r = !quant.uniform<i8:f32, 2.0>
func.func @rescaled(%x: tensor<2x!q>) -> tensor<2x!r> {
  // expected-error @below {{scale number [0] of the result is 2 with zero point 0, that of its elements is number [0] of operand 0, 1 with 0}}
  %0 = graph.reshape %x : tensor<2x!q> -> tensor<2x!r>
  return %0 : tensor<2x!r>
}

// -----

func.func @storage(%x: tensor<2x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x!quant.uniform<i4:f32, 1.0>> {
  // expected-error @below {{input and result differ in element type}}
  %0 = graph.reshape %x : tensor<2x!quant.uniform<i8:f32, 1.0>> -> tensor<2x!quant.uniform<i4:f32, 1.0>>
  return %0 : tensor<2x!quant.uniform<i4:f32, 1.0>>
}

// -----

!q = !quant.uniform<i8:f32, 0.5>
func.func @scanned(%x: tensor<4x!q>) -> tensor<4x!q> {
  // expected-error @below {{computes with elements of !quant.uniform<i8:f32, 5.000000e-01>, which are stored integers}}
  %0 = graph.scan %x {axis = 0, combiner = #graph.combiner<add>} : tensor<4x!q> -> tensor<4x!q>
  return %0 : tensor<4x!q>
}

// -----

!q = !quant.uniform<i8:f32, 0.5>
func.func @bits(%x: tensor<4x!q>) -> tensor<4xi8> {
  // expected-error @below {{takes elements for elements of another width}}
  %0 = graph.bitcast %x : tensor<4x!q> -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

// Scales say a size.
!q = !quant.uniform<i8:f32:0, {1.0, 2.0, 3.0, 4.0}>
func.func @open_size(%x: tensor<4x!q>) -> tensor<?x!q> {
  // expected-error @below {{dimension 0 of result must have size 3, not 4}}
  %0 = graph.slice %x {axes = array<i64: 0>, starts = array<i64: 0>, ends = array<i64: 3>, steps = array<i64: 1>} : tensor<4x!q> -> tensor<?x!q>
  return %0 : tensor<?x!q>
}

// -----

!q = !quant.uniform<i8:f32:0, {1.0, 2.0}>
func.func @malformed(%x: tensor<2x!q>, %i: tensor<2x1xi64>) -> tensor<2x!q> {
  // expected-error @below {{batch_dims 9223372036854775807 leaves no index for data of rank 1}}
  %0 = graph.gather_nd %x, %i {batch_dims = 9223372036854775807 : i64} : tensor<2x!q>, tensor<2x1xi64> -> tensor<2x!q>
  return %0 : tensor<2x!q>
}

// -----

!q = !quant.uniform<i8:f32:0, {1.0, 2.0}>
func.func @no_axis(%x: tensor<2x!q>) -> tensor<?x!q> {
  // expected-error @below {{axis -1 is no dimension of a tensor of rank 1}}
  %0 = graph.concat %x, %x {axis = -1} : tensor<2x!q>, tensor<2x!q> -> tensor<?x!q>
  return %0 : tensor<?x!q>
}
