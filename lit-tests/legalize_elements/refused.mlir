// RUN: sutura-opt %s --verify-diagnostics --split-input-file --legalize-elements

func.func @four_bits(%x: tensor<4xi4>) -> tensor<2x2xi4> {
  // expected-error @below {{'graph.reshape' op takes i4 from outside the program or gives it there, for which nothing is compiled}}
  %0 = graph.reshape %x : tensor<4xi4> -> tensor<2x2xi4>
  return %0 : tensor<2x2xi4>
}

// -----

func.func @given() -> tensor<2xui2> {
  %0 = graph.constant dense<[1, 3]> : tensor<2xui2>
  // expected-error @below {{'func.return' op takes ui2 from outside the program or gives it there}}
  return %0 : tensor<2xui2>
}

// -----

func.func @combined() -> tensor<i8> {
  %0 = graph.constant dense<[1, -3]> : tensor<2xi4>
  // expected-error @below {{'graph.compute' op combines elements of i4, for which nothing is compiled}}
  %1 = graph.compute ins(%0 : tensor<2xi4>) -> tensor<i4> {iterators = #graph.iterators<[reduce]>, combiners = #graph.combiners<[add]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>]} {
  ^bb0(%a: i4):
    graph.yield %a : i4
  }
  %2 = graph.compute ins(%1 : tensor<i4>) -> tensor<i8> {iterators = #graph.iterators<[]>, maps = [affine_map<() -> ()>, affine_map<() -> ()>]} {
  ^bb0(%a: i4):
    %b = arith.extsi %a : i4 to i8
    graph.yield %b : i8
  }
  return %2 : tensor<i8>
}

// -----

func.func @unknown() -> tensor<2xi8> {
  %0 = graph.constant dense<[1, -3]> : tensor<2xi4>
  %1 = graph.compute ins(%0 : tensor<2xi4>) -> tensor<2xi8> {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
  ^bb0(%a: i4):
    // expected-error @below {{'math.absi' op computes with i4, for which nothing is compiled}}
    %b = math.absi %a : i4
    %c = arith.extsi %b : i4 to i8
    graph.yield %c : i8
  }
  return %1 : tensor<2xi8>
}

// -----

func.func @complex(%x: tensor<4xcomplex<f32>>) -> tensor<2x2xcomplex<f32>> {
  // expected-error @below {{'graph.reshape' op is of tensors of complex<f32>, for which nothing is compiled}}
  %0 = graph.reshape %x : tensor<4xcomplex<f32>> -> tensor<2x2xcomplex<f32>>
  return %0 : tensor<2x2xcomplex<f32>>
}
