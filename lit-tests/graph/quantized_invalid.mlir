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
  // expected-error @below {{moves elements of}}
  %0 = graph.concat %x, %x {axis = 0} : tensor<?x!q>, tensor<?x!q> -> tensor<?x!q>
  return %0 : tensor<?x!q>
}

// -----

!q = !quant.uniform<i8:f32:0, {1.0, 2.0}>
func.func @reshaped(%x: tensor<2x2x!q>) -> tensor<2x2x!q> {
  // expected-error @below {{moves elements of}}
  %0 = graph.reshape %x : tensor<2x2x!q> -> tensor<2x2x!q>
  return %0 : tensor<2x2x!q>
}

// -----

!q = !quant.uniform<i8:f32:1, {1.0, 2.0}>
func.func @gathered(%x: tensor<2x2x!q>, %i: tensor<2xi64>) -> tensor<2x2x!q> {
  // expected-error @below {{moves elements of}}
  %0 = graph.gather %x, %i {axis = 1} : tensor<2x2x!q>, tensor<2xi64> -> tensor<2x2x!q>
  return %0 : tensor<2x2x!q>
}

// -----

// What is behind the indexed dimension moves where indices have two.
!q = !quant.uniform<i8:f32:1, {1.0, 2.0}>
func.func @gathered_behind(%x: tensor<2x2x!q>, %i: tensor<2x2xi64>) -> tensor<2x2x2x!q> {
  // expected-error @below {{moves elements of}}
  %0 = graph.gather %x, %i {axis = 0} : tensor<2x2x!q>, tensor<2x2xi64> -> tensor<2x2x2x!q>
  return %0 : tensor<2x2x2x!q>
}

// -----

!q = !quant.uniform<i8:f32:0, {1.0, 2.0}>
func.func @transposed(%x: tensor<2x2x!q>) -> tensor<2x2x!q> {
  // expected-error @below {{moves elements of}}
  %0 = graph.compute ins(%x : tensor<2x2x!q>) -> tensor<2x2x!q> {iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>]} {
  ^bb0(%a: !q):
    graph.yield %a : !q
  }
  return %0 : tensor<2x2x!q>
}

// -----

!q = !quant.uniform<i8:f32:{0:2}, {1.0, 2.0}>
func.func @blocks(%x: tensor<4x!q>) -> tensor<4x!q> {
  // expected-error @below {{moves elements of !quant.uniform<i8:f32:{0:2}, {1.000000e+00, 2.000000e+00}>, whose scales belong to positions}}
  %0 = graph.reshape %x : tensor<4x!q> -> tensor<4x!q>
  return %0 : tensor<4x!q>
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
