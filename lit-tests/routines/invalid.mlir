// RUN: sutura-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x5xf32>) -> tensor<4x5xf32> {
  // expected-error @+1 {{takes a dimension of its first input, of rank 2 as 'axis', not [2]}}
  %y = graph.sort %x {axis = 2 : i64, descending = array<i64: 0>} : tensor<4x5xf32> -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}

// -----

func.func @f(%x: tensor<4x5xf32>) -> tensor<4x5xf32> {
  // expected-error @+1 {{takes from 1 to 1 numbers 0 or 1 as 'descending', not [0, 1]}}
  %y = graph.sort %x {axis = 1 : i64, descending = array<i64: 0, 1>} : tensor<4x5xf32> -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}

// -----

func.func @f(%x: tensor<4x5xf32>, %i: tensor<4x6xi64>) -> tensor<4x5xf32> {
  // expected-error @+1 {{takes input 1 with other sizes}}
  %y, %j = graph.sort %x, %i {axis = 1 : i64, descending = array<i64: 0>}
      : tensor<4x5xf32>, tensor<4x6xi64> -> tensor<4x5xf32>, tensor<4x6xi64>
  return %y : tensor<4x5xf32>
}

// -----

func.func @f(%x: tensor<4x5xf32>) -> tensor<4x5xf64> {
  // expected-error @+1 {{result 0 must have elements of type f32}}
  %y = graph.sort %x {axis = 1 : i64, descending = array<i64: 0>} : tensor<4x5xf32> -> tensor<4x5xf64>
  return %y : tensor<4x5xf64>
}

// -----

func.func @f(%x: tensor<4x5xf32>) -> tensor<4x5xf32> {
  // expected-error @+1 {{makes 1 results, not 2}}
  %y, %z = graph.sort %x {axis = 1 : i64, descending = array<i64: 0>} : tensor<4x5xf32> -> tensor<4x5xf32>, tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}

// -----

func.func @f(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{takes inputs of rank 1 at least}}
  %y = graph.sort %x {axis = 0 : i64, descending = array<i64: 0>} : tensor<f32> -> tensor<f32>
  return %y : tensor<f32>
}

// -----

func.func @f(%x: tensor<4x5xf32>) -> tensor<4x6xf32> {
  // expected-error @+1 {{takes more elements than there are along the axis}}
  %v, %i = graph.top_k %x [6] {axis = 1 : i64} : tensor<4x5xf32> -> tensor<4x6xf32>, tensor<4x6xi64>
  return %v : tensor<4x6xf32>
}

// -----

func.func @f(%x: tensor<4x5xf32>) -> tensor<4x3xf32> {
  // expected-error @+1 {{dimension 1 of result 0 must have size 2}}
  %v, %i = graph.top_k %x [2] {axis = 1 : i64} : tensor<4x5xf32> -> tensor<4x3xf32>, tensor<4x2xi64>
  return %v : tensor<4x3xf32>
}

// -----

func.func @f(%x: tensor<4x5xf32>) -> tensor<4x2xf32> {
  // expected-error @+1 {{result 1 must have elements of type i64}}
  %v, %i = graph.top_k %x [2] {axis = 1 : i64} : tensor<4x5xf32> -> tensor<4x2xf32>, tensor<4x2xi32>
  return %v : tensor<4x2xf32>
}

// -----

func.func @f(%x: tensor<4x5x3xf32>) -> tensor<4x5x2xf32> {
  // expected-error @+1 {{needs an input whose last dimension has the constant size 1 (real) or 2 (complex)}}
  %y = graph.fft %x [5] {axis = 1 : i64} : tensor<4x5x3xf32> -> tensor<4x5x2xf32>
  return %y : tensor<4x5x2xf32>
}

// -----

func.func @f(%x: tensor<4x5x2xf32>) -> tensor<4x5x2xf32> {
  // expected-error @+1 {{cannot run along the last dimension, which holds the parts of a number}}
  %y = graph.fft %x [2] {axis = 2 : i64} : tensor<4x5x2xf32> -> tensor<4x5x2xf32>
  return %y : tensor<4x5x2xf32>
}

// -----

func.func @f(%x: tensor<4x5x2xi32>) -> tensor<4x5x2xi32> {
  // expected-error @+1 {{takes floats as input 0}}
  %y = graph.fft %x [5] {axis = 1 : i64} : tensor<4x5x2xi32> -> tensor<4x5x2xi32>
  return %y : tensor<4x5x2xi32>
}

// -----

func.func @f(%x: tensor<4x5x2xf8E5M2>) -> tensor<4x5x2xf8E5M2> {
  // expected-error @+1 {{transforms floats of 16 bits at least}}
  %y = graph.fft %x [5] {axis = 1 : i64} : tensor<4x5x2xf8E5M2> -> tensor<4x5x2xf8E5M2>
  return %y : tensor<4x5x2xf8E5M2>
}

// -----

rt.program @main(%x : !rt.buffer<f32, [B]> in "x", %y : !rt.buffer<f32, [B]> out "y") symbols(B : [0, 64]) {
  // expected-error @+1 {{names the routine 'srot', which the table does not have; it has sort, top_k, fft}}
  call "srot" version 1 ins(%x) outs(%y) params(axis [0], descending [0]) : !rt.buffer<f32, [B]>, !rt.buffer<f32, [B]>
}

// -----

rt.program @main(%x : !rt.buffer<f32, [B]> in "x", %y : !rt.buffer<f32, [B]> out "y") symbols(B : [0, 64]) {
  // expected-error @+1 {{names version 7 of the routine 'sort', of which the table has 1}}
  call "sort" version 7 ins(%x) outs(%y) params(axis [0], descending [0]) : !rt.buffer<f32, [B]>, !rt.buffer<f32, [B]>
}

// -----

rt.program @main(%x : !rt.buffer<f32, [B]> in "x", %y : !rt.buffer<f32, [B]> out "y") symbols(B : [0, 64]) {
  // expected-error @+1 {{does not give the parameter 'descending'}}
  call "sort" version 1 ins(%x) outs(%y) params(axis [0]) : !rt.buffer<f32, [B]>, !rt.buffer<f32, [B]>
}

// -----

rt.program @main(%x : !rt.buffer<f32, [B]> in "x", %y : !rt.buffer<f32, [B]> out "y") symbols(B : [0, 64]) {
  // expected-error @+1 {{gives the parameter 'speed', which the routine does not have; it has axis, descending}}
  call "sort" version 1 ins(%x) outs(%y) params(axis [0], descending [0], speed [9]) : !rt.buffer<f32, [B]>, !rt.buffer<f32, [B]>
}

// -----

rt.program @main(%x : !rt.buffer<f32, [B]> in "x", %y : !rt.buffer<f32, [B]> out "y") symbols(B : [0, 64]) {
  // expected-error @+1 {{the parameter 'axis' is given twice}}
  call "sort" version 1 ins(%x) outs(%y) params(axis [0], axis [0]) : !rt.buffer<f32, [B]>, !rt.buffer<f32, [B]>
}

// -----

rt.program @main(%x : !rt.buffer<f32, [B]> in "x", %y : !rt.buffer<f32, [B]> out "y") symbols(B : [0, 64]) {
  // expected-error @+1 {{the routine 'sort' needs a list of 48*B bytes as 'scratch'}}
  call "sort" version 1 ins(%x) outs(%y) params(axis [0], descending [0]) : !rt.buffer<f32, [B]>, !rt.buffer<f32, [B]>
}

// -----

rt.program @main(%x : !rt.buffer<f32, [B]> in "x", %y : !rt.buffer<f32, [B]> out "y") symbols(B : [0, 64]) {
  %w = alloc : !rt.buffer<i8, [47*B]>
  // expected-error @+1 {{the routine 'sort' needs a list of 48*B bytes as 'scratch'}}
  call "sort" version 1 ins(%x) outs(%y) scratch(%w) params(axis [0], descending [0]) : !rt.buffer<f32, [B]>, !rt.buffer<f32, [B]>, !rt.buffer<i8, [47*B]>
}

// -----

rt.program @main(%x : !rt.buffer<f32, [B]> in "x", %y : !rt.buffer<i32, [B]> out "y") symbols(B : [0, 64]) {
  %w = alloc : !rt.buffer<i8, [48*B]>
  // expected-error @+1 {{the routine 'sort' makes a !rt.buffer<f32, [B]> as output 0, not a !rt.buffer<i32, [B]>}}
  call "sort" version 1 ins(%x) outs(%y) scratch(%w) params(axis [0], descending [0]) : !rt.buffer<f32, [B]>, !rt.buffer<i32, [B]>, !rt.buffer<i8, [48*B]>
}

// -----

rt.program @main(%x : !rt.buffer<f32, [B]> in "x", %y : !rt.buffer<f32, [B]> out "y") symbols(B : [0, 64]) {
  %w = alloc : !rt.buffer<i8, [48*B]>
  // expected-error @+1 {{uses 'Q', which is no symbol of the program}}
  call "sort" version 1 ins(%x) outs(%y) scratch(%w) params(axis [Q], descending [0]) : !rt.buffer<f32, [B]>, !rt.buffer<f32, [B]>, !rt.buffer<i8, [48*B]>
}

// -----

rt.program @main(%x : !rt.buffer<f32, [B]> in "x", %y : !rt.buffer<f32, [B]> out "y") symbols(B : [0, 64]) {
  %w = alloc : !rt.buffer<i8, [48*B]>
  %t = alloc : !rt.buffer<f32, [B]>
  // expected-error @+1 {{reads a buffer before anything is written to it: it is argument 0, which the routine 'sort' reads}}
  call "sort" version 1 ins(%t) outs(%y) scratch(%w) params(axis [0], descending [0]) : !rt.buffer<f32, [B]>, !rt.buffer<f32, [B]>, !rt.buffer<i8, [48*B]>
}

// -----

rt.program @main(%x : !rt.buffer<f32, [B]> in "x", %y : !rt.buffer<f32, [B]> out "y") symbols(B : [0, 64]) {
  %w = alloc : !rt.buffer<i8, [48*B]>
  copy %x, %y : !rt.buffer<f32, [B]>, !rt.buffer<f32, [B]>
  // expected-error @+1 {{arguments 1 and 0 are the same memory, and it is written}}
  call "sort" version 1 ins(%y) outs(%y) scratch(%w) params(axis [0], descending [0]) : !rt.buffer<f32, [B]>, !rt.buffer<f32, [B]>, !rt.buffer<i8, [48*B]>
}

// -----

rt.program @main(%x : !rt.buffer<f32, [B]> in "x", %w : !rt.buffer<i8, [48*B]> in "w", %y : !rt.buffer<f32, [B]> out "y") symbols(B : [0, 64]) {
  // expected-error @+1 {{has an input or a constant as scratch memory}}
  call "sort" version 1 ins(%x) outs(%y) scratch(%w) params(axis [0], descending [0]) : !rt.buffer<f32, [B]>, !rt.buffer<f32, [B]>, !rt.buffer<i8, [48*B]>
}

// -----

// What a routine leaves in its scratch memory is nothing to read.
rt.program @main(%x : !rt.buffer<f32, [B]> in "x", %y : !rt.buffer<f32, [B]> out "y", %z : !rt.buffer<i8, [48*B]> out "z") symbols(B : [0, 64]) {
  %w = alloc : !rt.buffer<i8, [48*B]>
  call "sort" version 1 ins(%x) outs(%y) scratch(%w) params(axis [0], descending [0]) : !rt.buffer<f32, [B]>, !rt.buffer<f32, [B]>, !rt.buffer<i8, [48*B]>
  // expected-error @+1 {{reads a buffer before anything is written to it: it is copied}}
  copy %w, %z : !rt.buffer<i8, [48*B]>, !rt.buffer<i8, [48*B]>
}

// -----

func.func @f(%x: tensor<4x5xf32>) -> tensor<3x?xi64> {
  // expected-error @+1 {{dimension 0 of result 0 must have size 2}}
  %p = graph.non_zero %x : tensor<4x5xf32> -> tensor<3x?xi64>
  return %p : tensor<3x?xi64>
}

// -----

func.func @f(%x: tensor<4x5xf32>) -> tensor<2x?xi32> {
  // expected-error @+1 {{result 0 must have elements of type i64}}
  %p = graph.non_zero %x : tensor<4x5xf32> -> tensor<2x?xi32>
  return %p : tensor<2x?xi32>
}

// -----

func.func @f(%x: tensor<4x5xf32>) -> tensor<5xi64> {
  // expected-error @+1 {{dimension 0 of result 2 must have size 4}}
  %y, %i, %v, %c = graph.unique %x {axis = 0 : i64} : tensor<4x5xf32> -> tensor<?x5xf32>, tensor<?xi64>, tensor<5xi64>, tensor<?xi64>
  return %v : tensor<5xi64>
}

// -----

func.func @f(%s: tensor<2x9xf32>, %b: tensor<1x9x4xf32>, %m: tensor<1xi64>, %o: tensor<1xf32>) -> tensor<?x3xi64> {
  // expected-error @+1 {{needs scores of rank 3 of f32}}
  %r = graph.non_max_suppression %s, %b, %m, %o, %o
      : tensor<2x9xf32>, tensor<1x9x4xf32>, tensor<1xi64>, tensor<1xf32>, tensor<1xf32> -> tensor<?x3xi64>
  return %r : tensor<?x3xi64>
}

// -----

func.func @f(%s: tensor<1x2x9xf32>, %b: tensor<1x8x4xf32>, %m: tensor<1xi64>, %o: tensor<1xf32>) -> tensor<?x3xi64> {
  // expected-error @+1 {{takes input 1 with other sizes}}
  %r = graph.non_max_suppression %s, %b, %m, %o, %o
      : tensor<1x2x9xf32>, tensor<1x8x4xf32>, tensor<1xi64>, tensor<1xf32>, tensor<1xf32> -> tensor<?x3xi64>
  return %r : tensor<?x3xi64>
}

// -----

func.func @f(%s: tensor<1x2x9xf32>, %b: tensor<1x9x4xf32>, %m: tensor<2xi64>, %o: tensor<1xf32>) -> tensor<?x3xi64> {
  // expected-error @+1 {{needs one number of type i64 as 'most'}}
  %r = graph.non_max_suppression %s, %b, %m, %o, %o
      : tensor<1x2x9xf32>, tensor<1x9x4xf32>, tensor<2xi64>, tensor<1xf32>, tensor<1xf32> -> tensor<?x3xi64>
  return %r : tensor<?x3xi64>
}
