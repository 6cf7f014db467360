// RUN: sutura-opt %s --split-input-file --verify-diagnostics

func.func @count(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-error @below {{has 1 inputs and 2 results, as many are needed}}
  %0, %1 = graph.scan %x {axis = 0 : i64, combiner = #graph.combiner<add>} : tensor<4xf32> -> tensor<4xf32>, tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @nothing(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{says not how elements are joined}}
  %0 = graph.scan %x {axis = 0 : i64} : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @two(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-error @below {{has 2 inputs, a combiner joins one}}
  %0, %1 = graph.scan %x, %x {axis = 0 : i64, combiner = #graph.combiner<add>} : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>, tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @both(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has a `combiner` beside a region that joins}}
  %0 = graph.scan %x {axis = 0 : i64, combiner = #graph.combiner<add>, state = #graph.state<[0.0 : f32]>} : tensor<4xf32> -> tensor<4xf32> combine {
  ^bb0(%a: f32, %b: f32):
    graph.yield %b : f32
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @state(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{must have `state` and a region `combine` together, or neither}}
  %0 = graph.scan %x {axis = 0 : i64} : tensor<4xf32> -> tensor<4xf32> combine {
  ^bb0(%a: f32, %b: f32):
    graph.yield %b : f32
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @shapes(%x: tensor<4xf32>, %y: tensor<5xf32>) -> (tensor<4xf32>, tensor<5xf32>) {
  // expected-error @below {{dimension 0 of tensor 0 and of tensor 1 must be equal, they are 4 and 5}}
  %0, %1 = graph.scan %x, %y {axis = 0 : i64, state = #graph.state<[0.0 : f32, 0.0 : f32]>} : tensor<4xf32>, tensor<5xf32> -> tensor<4xf32>, tensor<5xf32> combine {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    graph.yield %c, %d : f32, f32
  }
  return %0, %1 : tensor<4xf32>, tensor<5xf32>
}

// -----

func.func @ranks(%x: tensor<4xf32>, %y: tensor<4x1xf32>) -> (tensor<4xf32>, tensor<4x1xf32>) {
  // expected-error @below {{tensor 1 must have rank 1, not 2}}
  %0, %1 = graph.scan %x, %y {axis = 0 : i64, state = #graph.state<[0.0 : f32, 0.0 : f32]>} : tensor<4xf32>, tensor<4x1xf32> -> tensor<4xf32>, tensor<4x1xf32> combine {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    graph.yield %c, %d : f32, f32
  }
  return %0, %1 : tensor<4xf32>, tensor<4x1xf32>
}

// -----

func.func @axis(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{axis 1 is no dimension of a tensor of rank 1}}
  %0 = graph.scan %x {axis = 1 : i64, combiner = #graph.combiner<add>} : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @wider(%x: tensor<4xf16>) -> tensor<4xf16> {
  // expected-error @below {{number 0 of the state must have the element type of result 0}}
  %0 = graph.scan %x {axis = 0 : i64, state = #graph.state<[0.0 : f32]>} : tensor<4xf16> -> tensor<4xf16> combine {
  ^bb0(%a: f32, %b: f32):
    graph.yield %b : f32
  }
  return %0 : tensor<4xf16>
}

// -----

func.func @byte(%x: tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN> {
  // expected-error @below {{joins floats of one byte, each of which would be rounded to that}}
  %0 = graph.scan %x {axis = 0 : i64, state = #graph.state<[0.0 : f8E4M3FN]>} : tensor<4xf8E4M3FN> -> tensor<4xf8E4M3FN> combine {
  ^bb0(%a: f8E4M3FN, %b: f8E4M3FN):
    graph.yield %b : f8E4M3FN
  }
  return %0 : tensor<4xf8E4M3FN>
}

// -----

func.func @args(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{region `combine` must take two states: the types of the identity, twice}}
  %0 = graph.scan %x {axis = 0 : i64, state = #graph.state<[0.0 : f32]>} : tensor<4xf32> -> tensor<4xf32> combine {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @few(%x: tensor<4xf32>, %i: tensor<2xi64>) -> tensor<4xf32> {
  // expected-error @below {{has 2 operands for 1 results; there must be a tensor of data per result, indices, and as many tensors of updates}}
  %0 = graph.scatter %x, %i {axis = 0 : i64} : tensor<4xf32>, tensor<2xi64> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @joined(%x: tensor<4xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-error @below {{writes to 2 tensors, a combiner joins one}}
  %0, %1 = graph.scatter %x, %x, %i, %u, %u {axis = 0 : i64, combiner = #graph.combiner<add>} : tensor<4xf32>, tensor<4xf32>, tensor<2xi64>, tensor<2xf32>, tensor<2xf32> -> tensor<4xf32>, tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @data(%x: tensor<4xf32>, %y: tensor<3xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) -> (tensor<4xf32>, tensor<3xf32>) {
  // expected-error @below {{dimension 0 of data 0 and of data 1 must be equal, they are 4 and 3}}
  %0, %1 = graph.scatter %x, %y, %i, %u, %u {axis = 0 : i64} : tensor<4xf32>, tensor<3xf32>, tensor<2xi64>, tensor<2xf32>, tensor<2xf32> -> tensor<4xf32>, tensor<3xf32>
  return %0, %1 : tensor<4xf32>, tensor<3xf32>
}

// -----

func.func @taken(%x: tensor<4xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-error @below {{region `combine` must take the elements and the updates of 2 tensors, each of the tensor's type}}
  %0, %1 = graph.scatter %x, %x, %i, %u, %u {axis = 0 : i64} : tensor<4xf32>, tensor<4xf32>, tensor<2xi64>, tensor<2xf32>, tensor<2xf32> -> tensor<4xf32>, tensor<4xf32> combine {
  ^bb0(%a: f32, %b: f32):
    graph.yield %a, %b : f32, f32
  }
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @yields(%x: tensor<4xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0, %1 = graph.scatter %x, %x, %i, %u, %u {axis = 0 : i64} : tensor<4xf32>, tensor<4xf32>, tensor<2xi64>, tensor<2xf32>, tensor<2xf32> -> tensor<4xf32>, tensor<4xf32> combine {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    // expected-error @below {{must yield the new element of each tensor}}
    graph.yield %a : f32
  }
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
