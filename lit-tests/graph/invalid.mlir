// RUN: sutura-opt %s --verify-diagnostics --split-input-file

func.func @captures(%x: tensor<4xf32>, %k: f32) -> tensor<4xf32> {
  %y = graph.compute ins(%x : tensor<4xf32>) -> tensor<4xf32> {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
  ^bb0(%e: f32):
    // expected-error @below {{'arith.addf' op uses a value from outside the body of 'graph.compute'}}
    %0 = arith.addf %e, %k : f32
    graph.yield %0 : f32
  }
  return %y : tensor<4xf32>
}

// -----

func.func @yields(%x: tensor<4xf32>) -> tensor<4xf64> {
  %y = graph.compute ins(%x : tensor<4xf32>) -> tensor<4xf64> {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
  ^bb0(%e: f32):
    // expected-error @below {{'graph.yield' op value 0 must have the element type of result 0}}
    graph.yield %e : f32
  }
  return %y : tensor<4xf64>
}

// -----

func.func @iterator(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expected one of: 'parallel' 'reduce'}}
  %y = graph.compute ins(%x : tensor<4xf32>) -> tensor<4xf32> {iterators = #graph.iterators<[serial]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  return %y : tensor<4xf32>
}

// -----

func.func @extent(%x: tensor<4xf32>) -> tensor<f32> {
  // expected-error @below {{'graph.compute' op no operand and no result says how far iterator d0 runs}}
  %y = graph.compute ins(%x : tensor<4xf32>) -> tensor<f32> {iterators = #graph.iterators<[reduce]>, combiners = #graph.combiners<[add]>, maps = [affine_map<(d0) -> (d0 * 2)>, affine_map<(d0) -> ()>]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  return %y : tensor<f32>
}

// -----

func.func @index() -> tensor<4xindex> {
  %y = graph.compute ins() -> tensor<4xindex> {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>]} {
    // expected-error @below {{'graph.index' op names iterator 1 of 1}}
    %0 = graph.index 1 : index
    graph.yield %0 : index
  }
  return %y : tensor<4xindex>
}

// -----

// expected-error @below {{dimension 1 is 4, but #dyn.shape says 5}}
func.func private @encoding(tensor<?x4xf32, #dyn.shape<[N, 5]>>)

// -----

// expected-error @below {{#dyn.shape has 1 sizes, but the tensor has rank 2}}
func.func private @rank(tensor<?x4xf32, #dyn.shape<[N]>>)

// -----

func.func @slice(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'graph.slice' op needs starts and ends either as attributes or as two operands}}
  %y = graph.slice %x {axes = array<i64: 0>, steps = array<i64: 1>} : tensor<4xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @fusion(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'graph.fusion' op input 0 and its argument differ in type}}
  %y = graph.fusion(%x : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<5xf32>):
    graph.yield %a : tensor<5xf32>
  }
  return %y : tensor<4xf32>
}

// -----

func.func @gather_elements(%x: tensor<4x5xf32>, %i: tensor<3x1xi64>) -> tensor<3x1xf32> {
  // expected-error @below {{'graph.gather_elements' op dimension 0 of data and indices must be equal, they are 4 and 3}}
  %y = graph.gather_elements %x, %i {axis = 1 : i64} : tensor<4x5xf32>, tensor<3x1xi64> -> tensor<3x1xf32>
  return %y : tensor<3x1xf32>
}

// -----

func.func @gather_elements_rank(%x: tensor<4x5xf32>, %i: tensor<4xi64>) -> tensor<4xf32> {
  // expected-error @below {{'graph.gather_elements' op indices must have the data's rank, 2, not 1}}
  %y = graph.gather_elements %x, %i {axis = 1 : i64} : tensor<4x5xf32>, tensor<4xi64> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @gather_elements_axis(%x: tensor<4xf32>, %i: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'graph.gather_elements' op}}
  %y = graph.gather_elements %x, %i {axis = 0 : i64} : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @scan_axis(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'graph.scan' op axis 1 is no dimension of a tensor of rank 1}}
  %y = graph.scan %x {axis = 1 : i64, combiner = #graph.combiner<add>} : tensor<4xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @scan_scalar(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'graph.scan' op axis 0 is no dimension of a tensor of rank 0}}
  %y = graph.scan %x {axis = 0 : i64, combiner = #graph.combiner<add>} : tensor<f32> -> tensor<f32>
  return %y : tensor<f32>
}

// -----

func.func @scan_combiner(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expected one of: add, mul, max, min, and, or}}
  %y = graph.scan %x {axis = 0 : i64, combiner = #graph.combiner<mean>} : tensor<4xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @scan_truth(%x: tensor<4xi1>) -> tensor<4xi1> {
  // expected-error @below {{'graph.scan' op combines floats, complex numbers, or signless integers of more than one bit}}
  %y = graph.scan %x {axis = 0 : i64, combiner = #graph.combiner<max>} : tensor<4xi1> -> tensor<4xi1>
  return %y : tensor<4xi1>
}

// -----

func.func @scan_type(%x: tensor<4xf32>) -> tensor<4xf64> {
  // expected-error @below {{'graph.scan' op input and result differ in element type}}
  %y = graph.scan %x {axis = 0 : i64, combiner = #graph.combiner<max>} : tensor<4xf32> -> tensor<4xf64>
  return %y : tensor<4xf64>
}

// -----

func.func @scan_size(%x: tensor<?x4xf32>) -> tensor<?x5xf32> {
  // expected-error @below {{'graph.scan' op dimension 1 of result must have size 4, not 5}}
  %y = graph.scan %x {axis = 0 : i64, combiner = #graph.combiner<max>} : tensor<?x4xf32> -> tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}

// -----

func.func @sizes(%x: tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
  // expected-error @below {{'graph.compute' op map 0 has 2 symbols, and 1 `sizes` say what they stand for}}
  %y = graph.compute ins(%x : tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
    iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0)[s0, s1] -> (d0 - s1)>, affine_map<(d0) -> (d0)>],
    oob = [0.0 : f32], sizes = #dyn.shape<[N]>
  } {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  return %y : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

func.func @unknown_size(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{attribute 'sizes' failed to satisfy constraint: #dyn.shape of known sizes}}
  %y = graph.compute ins(%x : tensor<?xf32>) -> tensor<?xf32> {
    iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0)[s0] -> (d0 + s0)>, affine_map<(d0) -> (d0)>], sizes = #dyn.shape<[?]>
  } {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  return %y : tensor<?xf32>
}

// -----

// Behind as many elements as there are is nothing.
func.func @behind(%x: tensor<?xf32, #dyn.shape<[N]>>) -> tensor<3xf32> {
  // expected-error @below {{map of input 0 reads outside dimension 0}}
  %y = graph.compute ins(%x : tensor<?xf32, #dyn.shape<[N]>>) -> tensor<3xf32> {
    iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0)[s0] -> (d0 + s0)>, affine_map<(d0) -> (d0)>], sizes = #dyn.shape<[N]>
  } {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  return %y : tensor<3xf32>
}

// -----

func.func @gather_nd_count(%x: tensor<4x5xf32>, %i: tensor<3x?xi64>) -> tensor<3xf32> {
  // expected-error @below {{'graph.gather_nd' op the last dimension of indices must have a constant size from 1 to 2}}
  %y = graph.gather_nd %x, %i : tensor<4x5xf32>, tensor<3x?xi64> -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

func.func @gather_nd_many(%x: tensor<4x5xf32>, %i: tensor<4x3x2xi64>) -> tensor<4x3xf32> {
  // expected-error @below {{'graph.gather_nd' op the last dimension of indices must have a constant size from 1 to 1}}
  %y = graph.gather_nd %x, %i {batch_dims = 1 : i64} : tensor<4x5xf32>, tensor<4x3x2xi64> -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// -----

func.func @gather_nd_batch(%x: tensor<4x5xf32>, %i: tensor<3x2x1xi64>) -> tensor<3x2xf32> {
  // expected-error @below {{'graph.gather_nd' op dimension 0 of data and indices must be equal, they are 4 and 3}}
  %y = graph.gather_nd %x, %i {batch_dims = 1 : i64} : tensor<4x5xf32>, tensor<3x2x1xi64> -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// -----

func.func @gather_nd_batch_dims(%x: tensor<4x5xf32>, %i: tensor<4x1xi64>) -> tensor<4xf32> {
  // expected-error @below {{'graph.gather_nd' op batch_dims 2 leaves no index for data of rank 2}}
  %y = graph.gather_nd %x, %i {batch_dims = 2 : i64} : tensor<4x5xf32>, tensor<4x1xi64> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @gather_nd_scalar(%x: tensor<4xf32>, %i: tensor<i64>) -> tensor<f32> {
  // expected-error @below {{'graph.gather_nd' op indices must have a last dimension}}
  %y = graph.gather_nd %x, %i : tensor<4xf32>, tensor<i64> -> tensor<f32>
  return %y : tensor<f32>
}

// -----

func.func @gather_nd_result(%x: tensor<4x5x6xf32>, %i: tensor<3x2xi64>) -> tensor<3x5xf32> {
  // expected-error @below {{'graph.gather_nd' op dimension 1 of result must have size 6, not 5}}
  %y = graph.gather_nd %x, %i : tensor<4x5x6xf32>, tensor<3x2xi64> -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

func.func @gather_nd_floats(%x: tensor<4x5xf32>, %i: tensor<3x2xf32>) -> tensor<3xf32> {
  // expected-error @below {{'graph.gather_nd' op indices must hold integers}}
  %y = graph.gather_nd %x, %i : tensor<4x5xf32>, tensor<3x2xf32> -> tensor<3xf32>
  return %y : tensor<3xf32>
}
