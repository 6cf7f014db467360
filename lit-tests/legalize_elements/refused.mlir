// RUN: sutura-opt %s --verify-diagnostics --split-input-file --legalize-elements

func.func @running(%x: tensor<4xi4>) -> tensor<4xi4> {
  // expected-error @below {{'graph.scan' op joins elements of i4 by a region, for which nothing is compiled}}
  %0 = graph.scan %x {axis = 0 : i64, state = #graph.state<[0 : i4]>} : tensor<4xi4> -> tensor<4xi4> combine {
  ^bb0(%a: i4, %b: i4):
    %c = arith.xori %a, %b : i4
    graph.yield %c : i4
  }
  return %0 : tensor<4xi4>
}

// -----

func.func @rounded(%x: tensor<2xf32>) -> tensor<2xf8E5M2> {
  %0 = graph.compute ins(%x : tensor<2xf32>) -> tensor<2xf8E5M2> {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
  ^bb0(%a: f32):
    // expected-error @below {{'arith.truncf' op rounds to f8E5M2 in another way than to nearest even, for which nothing is compiled}}
    %b = arith.truncf %a upward : f32 to f8E5M2
    graph.yield %b : f8E5M2
  }
  return %0 : tensor<2xf8E5M2>
}

// -----

func.func @joined(%x: tensor<5xi4>, %i: tensor<3x1xi64>, %u: tensor<3xi4>) -> tensor<5xi4> {
  // expected-error @below {{'graph.scatter' op joins elements of i4 by a region, for which nothing is compiled}}
  %0 = graph.scatter %x, %i, %u : tensor<5xi4>, tensor<3x1xi64>, tensor<3xi4> -> tensor<5xi4> combine {
  ^bb0(%a: i4, %b: i4):
    %c = arith.addi %a, %b : i4
    graph.yield %c : i4
  }
  return %0 : tensor<5xi4>
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
