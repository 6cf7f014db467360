// Paddings that stay, and why.

// RUN: sutura-opt %s --fold-padding --remarks --verify-diagnostics | FileCheck %s

#one = affine_map<(h) -> (h - 1)>
#cut = affine_map<(h) -> (h + 1)>
#same = affine_map<(h) -> (h)>
#read = affine_map<(h, i) -> (h + i)>
#padded = affine_map<(h, i) -> (h + i - 1)>
#win = affine_map<(h, i) -> (i)>
#line = affine_map<(h, i) -> (h)>
#all = affine_map<(h) -> ()>

// CHECK-LABEL: func.func @leaves
// CHECK: oob
// CHECK: oob
func.func @leaves(%x: tensor<9xf32>) -> tensor<11xf32> {
  // expected-remark @below {{%p stays a tensor that is padded: 'func.return' reads it}}
  %p = graph.compute ins(%x : tensor<9xf32>) -> tensor<11xf32> {iterators = #graph.iterators<[parallel]>, maps = [#one, #same], oob = [0.0 : f32]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  return %p : tensor<11xf32>
}

func.func @each(%x: tensor<9xf32>) -> tensor<11xf32> {
  // expected-remark @below {{%p stays a tensor that is padded: an operation that combines nothing reads it}}
  %p = graph.compute ins(%x : tensor<9xf32>) -> tensor<11xf32> {iterators = #graph.iterators<[parallel]>, maps = [#one, #same], oob = [0.0 : f32]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %y = graph.compute ins(%p : tensor<11xf32>) -> tensor<11xf32> {iterators = #graph.iterators<[parallel]>, maps = [#same, #same]} {
  ^bb0(%a: f32):
    %n = arith.negf %a : f32
    graph.yield %n : f32
  }
  return %y : tensor<11xf32>
}

// Zero around one padding, one around the other.
func.func @another_number(%x: tensor<9xf32>, %w: tensor<3xf32>) -> tensor<11xf32> {
  // expected-remark @below {{%p stays a tensor that is padded: what reads it reads another number around it}}
  %p = graph.compute ins(%x : tensor<9xf32>) -> tensor<11xf32> {iterators = #graph.iterators<[parallel]>, maps = [#one, #same], oob = [0.0 : f32]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %y = graph.compute ins(%p, %w : tensor<11xf32>, tensor<3xf32>) -> tensor<11xf32> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#padded, #win, #line], oob = [1.0 : f32, unit]} {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %b : f32
    graph.yield %m : f32
  }
  return %y : tensor<11xf32>
}

// The first element is cut off: the window reads zero there, not the element.
func.func @cut(%x: tensor<9xf32>, %w: tensor<3xf32>) -> tensor<11xf32> {
  // expected-remark @below {{%p stays a tensor that is padded: what reads it pads as well, and a part of the tensor is cut off between}}
  %p = graph.compute ins(%x : tensor<9xf32>) -> tensor<11xf32> {iterators = #graph.iterators<[parallel]>, maps = [#cut, #same], oob = [0.0 : f32]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %y = graph.compute ins(%p, %w : tensor<11xf32>, tensor<3xf32>) -> tensor<11xf32> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#padded, #win, #line], oob = [0.0 : f32, unit]} {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %b : f32
    graph.yield %m : f32
  }
  return %y : tensor<11xf32>
}

// The sum runs as far as the padded tensor goes.
func.func @length(%x: tensor<9xf32>) -> tensor<f32> {
  // expected-remark @below {{%p stays a tensor that is padded: nothing else says how far what reads it runs}}
  %p = graph.compute ins(%x : tensor<9xf32>) -> tensor<11xf32> {iterators = #graph.iterators<[parallel]>, maps = [#one, #same], oob = [2.0 : f32]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %y = graph.compute ins(%p : tensor<11xf32>) -> tensor<f32> {iterators = #graph.iterators<[reduce]>, combiners = #graph.combiners<[add]>, maps = [#same, #all]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  return %y : tensor<f32>
}

// No copy.
func.func @computed(%x: tensor<9xf32>, %w: tensor<3xf32>) -> tensor<9xf32> {
  %p = graph.compute ins(%x : tensor<9xf32>) -> tensor<11xf32> {iterators = #graph.iterators<[parallel]>, maps = [#one, #same], oob = [0.0 : f32]} {
  ^bb0(%a: f32):
    %n = arith.negf %a : f32
    graph.yield %n : f32
  }
  %y = graph.compute ins(%p, %w : tensor<11xf32>, tensor<3xf32>) -> tensor<9xf32> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#read, #win, #line]} {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %b : f32
    graph.yield %m : f32
  }
  return %y : tensor<9xf32>
}

// The product of a padded matrix and itself, turned: each read says how far the sum of the other runs.
#pad2 = affine_map<(m, k) -> (m, k - 1)>
#same2 = affine_map<(m, k) -> (m, k)>
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>
func.func @twice(%x: tensor<4x9xf32>) -> tensor<4x4xf32> {
  // expected-remark @below {{%p stays a tensor that is padded: one operation reads it twice}}
  %p = graph.compute ins(%x : tensor<4x9xf32>) -> tensor<4x11xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#pad2, #same2], oob = [1.0 : f32]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %y = graph.compute ins(%p, %p : tensor<4x11xf32>, tensor<4x11xf32>) -> tensor<4x4xf32> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#lhs, #rhs, #out]} {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %b : f32
    graph.yield %m : f32
  }
  return %y : tensor<4x4xf32>
}
