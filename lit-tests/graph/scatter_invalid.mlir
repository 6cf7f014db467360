// RUN: sutura-opt %s --split-input-file --verify-diagnostics

func.func @axis(%x: tensor<4xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) -> tensor<4xf32> {
  // expected-error @below {{'graph.scatter' op axis 1 is no dimension of a tensor of rank 1}}
  %y = graph.scatter %x, %i, %u {axis = 1 : i64} : tensor<4xf32>, tensor<2xi64>, tensor<2xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @rank(%x: tensor<4x5xf32>, %i: tensor<2xi64>, %u: tensor<2x1xf32>) -> tensor<4x5xf32> {
  // expected-error @below {{'graph.scatter' op indices and updates must have the data's rank, 2}}
  %y = graph.scatter %x, %i, %u {axis = 1 : i64} : tensor<4x5xf32>, tensor<2xi64>, tensor<2x1xf32> -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}

// -----

func.func @more(%x: tensor<4x5xf32>, %i: tensor<6x1xi64>, %u: tensor<6x1xf32>) -> tensor<4x5xf32> {
  // expected-error @below {{'graph.scatter' op dimension 0 of updates must be at most 4, not 6}}
  %y = graph.scatter %x, %i, %u {axis = 1 : i64} : tensor<4x5xf32>, tensor<6x1xi64>, tensor<6x1xf32> -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}

// -----

func.func @differ(%x: tensor<4x5xf32>, %i: tensor<4x1xi64>, %u: tensor<4x2xf32>) -> tensor<4x5xf32> {
  // expected-error @below {{'graph.scatter' op dimension 1 of indices and updates must be equal, they are 1 and 2}}
  %y = graph.scatter %x, %i, %u {axis = 1 : i64} : tensor<4x5xf32>, tensor<4x1xi64>, tensor<4x2xf32> -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}

// -----

func.func @count(%x: tensor<4x5xf32>, %i: tensor<3x?xi64>, %u: tensor<3x5xf32>) -> tensor<4x5xf32> {
  // expected-error @below {{'graph.scatter' op the last dimension of indices must have a constant size from 1 to 2}}
  %y = graph.scatter %x, %i, %u : tensor<4x5xf32>, tensor<3x?xi64>, tensor<3x5xf32> -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}

// -----

func.func @updates(%x: tensor<4x5xf32>, %i: tensor<3x1xi64>, %u: tensor<3xf32>) -> tensor<4x5xf32> {
  // expected-error @below {{'graph.scatter' op updates must have rank 2, not 1}}
  %y = graph.scatter %x, %i, %u : tensor<4x5xf32>, tensor<3x1xi64>, tensor<3xf32> -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}

// -----

func.func @places(%x: tensor<4x5xf32>, %i: tensor<3x1xi64>, %u: tensor<2x5xf32>) -> tensor<4x5xf32> {
  // expected-error @below {{'graph.scatter' op dimension 0 of updates and what it follows from must be equal, they are 3 and 2}}
  %y = graph.scatter %x, %i, %u : tensor<4x5xf32>, tensor<3x1xi64>, tensor<2x5xf32> -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}

// -----

func.func @result(%x: tensor<4x5xf32>, %i: tensor<3x1xi64>, %u: tensor<3x5xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{'graph.scatter' op dimension 1 of result must have size 5, not 6}}
  %y = graph.scatter %x, %i, %u : tensor<4x5xf32>, tensor<3x1xi64>, tensor<3x5xf32> -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

func.func @floats(%x: tensor<4xf32>, %i: tensor<2xf32>, %u: tensor<2xf32>) -> tensor<4xf32> {
  // expected-error @below {{'graph.scatter' op indices must hold integers}}
  %y = graph.scatter %x, %i, %u {axis = 0 : i64} : tensor<4xf32>, tensor<2xf32>, tensor<2xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @types(%x: tensor<4xf32>, %i: tensor<2xi64>, %u: tensor<2xf16>) -> tensor<4xf32> {
  // expected-error @below {{'graph.scatter' op data and updates differ in element type}}
  %y = graph.scatter %x, %i, %u {axis = 0 : i64} : tensor<4xf32>, tensor<2xi64>, tensor<2xf16> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @unsigned(%x: tensor<4xui8>, %i: tensor<2xi64>, %u: tensor<2xui8>) -> tensor<4xui8> {
  // expected-error @below {{'graph.scatter' op is combined as signless integers, and has others}}
  %y = graph.scatter %x, %i, %u {axis = 0 : i64, combiner = #graph.combiner<max>} : tensor<4xui8>, tensor<2xi64>, tensor<2xui8> -> tensor<4xui8>
  return %y : tensor<4xui8>
}

// -----

func.func @bytes(%x: tensor<4xf8E5M2>, %i: tensor<2xi64>, %u: tensor<2xf8E5M2>) -> tensor<4xf8E5M2> {
  // expected-error @below {{'graph.scatter' op joins floats of one byte, each of which would be rounded to that}}
  %y = graph.scatter %x, %i, %u {axis = 0 : i64, combiner = #graph.combiner<add>} : tensor<4xf8E5M2>, tensor<2xi64>, tensor<2xf8E5M2> -> tensor<4xf8E5M2>
  return %y : tensor<4xf8E5M2>
}

// -----

func.func @combiner(%x: tensor<4xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) -> tensor<4xf32> {
  // expected-error @below {{'graph.scatter' op combiner 'and' joins no numbers of this element type}}
  %y = graph.scatter %x, %i, %u {axis = 0 : i64, combiner = #graph.combiner<and>} : tensor<4xf32>, tensor<2xi64>, tensor<2xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @both(%x: tensor<4xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) -> tensor<4xf32> {
  // expected-error @below {{'graph.scatter' op has a `combiner` beside a region that joins}}
  %y = graph.scatter %x, %i, %u {axis = 0 : i64, combiner = #graph.combiner<add>} : tensor<4xf32>, tensor<2xi64>, tensor<2xf32> -> tensor<4xf32> combine {
  ^bb0(%a: f32, %b: f32):
    graph.yield %a : f32
  }
  return %y : tensor<4xf32>
}

// -----

func.func @arguments(%x: tensor<4xf16>, %i: tensor<2xi64>, %u: tensor<2xf16>) -> tensor<4xf16> {
  // expected-error @below {{'graph.scatter' op region `combine` must take an element and an update: two numbers of type f16}}
  %y = graph.scatter %x, %i, %u {axis = 0 : i64} : tensor<4xf16>, tensor<2xi64>, tensor<2xf16> -> tensor<4xf16> combine {
  ^bb0(%a: f32, %b: f32):
    graph.yield %a : f32
  }
  return %y : tensor<4xf16>
}

// -----

func.func @yields(%x: tensor<4xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) -> tensor<4xf32> {
  %y = graph.scatter %x, %i, %u {axis = 0 : i64} : tensor<4xf32>, tensor<2xi64>, tensor<2xf32> -> tensor<4xf32> combine {
  ^bb0(%a: f32, %b: f32):
    // expected-error @below {{'graph.yield' op must yield the new element}}
    graph.yield %a, %b : f32, f32
  }
  return %y : tensor<4xf32>
}

// -----

func.func @outside(%x: tensor<4xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>, %c: f32) -> tensor<4xf32> {
  %y = graph.scatter %x, %i, %u {axis = 0 : i64} : tensor<4xf32>, tensor<2xi64>, tensor<2xf32> -> tensor<4xf32> combine {
  ^bb0(%a: f32, %b: f32):
    // expected-error @below {{'arith.addf' op uses a value from outside the body of 'graph.scatter'}}
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  return %y : tensor<4xf32>
}
