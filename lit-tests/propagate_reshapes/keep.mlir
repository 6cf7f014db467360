// Reshapes that stay between ops that compute, and why. Nothing of these functions changes.

// RUN: sutura-opt %s -o %t.before
// RUN: sutura-opt %s --propagate-reshapes -o %t.after
// RUN: diff %t.before %t.after
// RUN: sutura-opt %s --propagate-reshapes --remarks 2>&1 >/dev/null | FileCheck %s
// RUN: sutura-opt %s --propagate-reshapes --pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=COUNT
// RUN: sutura-opt %s --stitch | FileCheck %s --check-prefix=PLAN

// COUNT: (S) 0 num-propagated
// COUNT: (S) 10 num-kept
// COUNT: (S) 0 num-expanded

#line = affine_map<(d0) -> (d0)>
#later = affine_map<(d0) -> (d0 + 3)>
#before = affine_map<(d0) -> (d0 - 1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#second = affine_map<(d0, d1) -> (d1)>
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#turned = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
#left = affine_map<(d0, d1, d2) -> (d0, d2)>
#right = affine_map<(d0, d1, d2) -> (d2, d1)>
#product = affine_map<(d0, d1, d2) -> (d0, d1)>
#left4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#right4 = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
#product4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>

func.func private @declared(tensor<4xf32>)

// The bias stays with its product.
// CHECK: remark: %h stays a reshape of %y: a dimension of size 64 would be split, and the product %p runs through it
// PLAN-LABEL: func.func @epilogue(
// PLAN: graph.fusion({{.*}}
// PLAN: arith.addf
func.func @epilogue(%x: tensor<?x32xf32, #dyn.shape<[M, 32]>>, %w: tensor<32x64xf32>, %b: tensor<64xf32>)
    -> tensor<?x4x16xf32, #dyn.shape<[M, 4, 16]>> {
  %M = dyn.symbol "M" {range = [1, 512], likely = [64]} : index
  %p = graph.compute ins(%x, %w : tensor<?x32xf32, #dyn.shape<[M, 32]>>, tensor<32x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>>
      {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#left, #right, #product]} {
  ^bb0(%a: f32, %c: f32):
    %0 = arith.mulf %a, %c : f32
    graph.yield %0 : f32
  }
  %y = graph.compute ins(%p, %b : tensor<?x64xf32, #dyn.shape<[M, 64]>>, tensor<64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>>
      {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #second, #id]} {
  ^bb0(%a: f32, %c: f32):
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  %h = graph.reshape %y : tensor<?x64xf32, #dyn.shape<[M, 64]>> -> tensor<?x4x16xf32, #dyn.shape<[M, 4, 16]>>
  %e = graph.compute ins(%h : tensor<?x4x16xf32, #dyn.shape<[M, 4, 16]>>) -> tensor<?x4x16xf32, #dyn.shape<[M, 4, 16]>>
      {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id3, #id3]} {
  ^bb0(%a: f32):
    %0 = math.exp %a : f32
    graph.yield %0 : f32
  }
  return %e : tensor<?x4x16xf32, #dyn.shape<[M, 4, 16]>>
}

// A product reads heads as they lie, through a transposition that is a part of it; nothing could be joined.
// CHECK: remark: %h stays a reshape of %y: only products read it
func.func @factor(%x: tensor<?x64xf32, #dyn.shape<[S, 64]>>, %k: tensor<4x16x8xf32>) -> tensor<4x?x8xf32, #dyn.shape<[4, S, 8]>> {
  %S = dyn.symbol "S" {range = [1, 512], likely = [64]} : index
  %y = graph.compute ins(%x : tensor<?x64xf32, #dyn.shape<[S, 64]>>) -> tensor<?x64xf32, #dyn.shape<[S, 64]>>
      {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %0 = arith.negf %a : f32
    graph.yield %0 : f32
  }
  %h = graph.reshape %y : tensor<?x64xf32, #dyn.shape<[S, 64]>> -> tensor<?x4x16xf32, #dyn.shape<[S, 4, 16]>>
  %t = graph.compute ins(%h : tensor<?x4x16xf32, #dyn.shape<[S, 4, 16]>>) -> tensor<4x?x16xf32, #dyn.shape<[4, S, 16]>>
      {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#turned, #id3]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %p = graph.compute ins(%t, %k : tensor<4x?x16xf32, #dyn.shape<[4, S, 16]>>, tensor<4x16x8xf32>) -> tensor<4x?x8xf32, #dyn.shape<[4, S, 8]>>
      {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#left4, #right4, #product4]} {
  ^bb0(%a: f32, %c: f32):
    %0 = arith.mulf %a, %c : f32
    graph.yield %0 : f32
  }
  return %p : tensor<4x?x8xf32, #dyn.shape<[4, S, 8]>>
}

// What a body computes with is the index of the whole dimension.
// CHECK: remark: %h stays a reshape of %y: a dimension of size 12 would be split, and %y computes with its index
func.func @index(%x: tensor<12xi64>) -> tensor<3x4xi64> {
  %y = graph.compute ins(%x : tensor<12xi64>) -> tensor<12xi64> {iterators = #graph.iterators<[parallel]>, maps = [#line, #line]} {
  ^bb0(%a: i64):
    %i = graph.index 0 : index
    %0 = arith.index_cast %i : index to i64
    %1 = arith.addi %a, %0 : i64
    graph.yield %1 : i64
  }
  %h = graph.reshape %y : tensor<12xi64> -> tensor<3x4xi64>
  %e = graph.compute ins(%h : tensor<3x4xi64>) -> tensor<3x4xi64> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: i64):
    %0 = arith.muli %a, %a : i64
    graph.yield %0 : i64
  }
  return %e : tensor<3x4xi64>
}

// A slice begins within a part, and a tensor that is padded ends within one.
// CHECK: remark: %h stays a reshape of %y: a dimension of size 12 would be split, and %y reads along it at computed places
func.func @slice(%x: tensor<15xf32>) -> tensor<3x4xf32> {
  %y = graph.compute ins(%x : tensor<15xf32>) -> tensor<12xf32> {iterators = #graph.iterators<[parallel]>, maps = [#later, #line]} {
  ^bb0(%a: f32):
    %0 = arith.negf %a : f32
    graph.yield %0 : f32
  }
  %h = graph.reshape %y : tensor<12xf32> -> tensor<3x4xf32>
  %e = graph.compute ins(%h : tensor<3x4xf32>) -> tensor<3x4xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %0 = arith.negf %a : f32
    graph.yield %0 : f32
  }
  return %e : tensor<3x4xf32>
}

// CHECK: remark: %h stays a reshape of %y: a dimension of size 12 would be split, and %y reads outside a tensor along it
func.func @longer(%x: tensor<9xf32>) -> tensor<3x4xf32> {
  %y = graph.compute ins(%x : tensor<9xf32>) -> tensor<12xf32> {iterators = #graph.iterators<[parallel]>, maps = [#line, #line], oob = [0.0 : f32]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %h = graph.reshape %y : tensor<12xf32> -> tensor<3x4xf32>
  %e = graph.compute ins(%h : tensor<3x4xf32>) -> tensor<3x4xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %0 = arith.negf %a : f32
    graph.yield %0 : f32
  }
  return %e : tensor<3x4xf32>
}

// CHECK: remark: %h stays a reshape of %y: a dimension of size 12 would be split, and 'graph.gather' runs through it
func.func @gather(%x: tensor<5x12xf32>, %at: tensor<?xi64, #dyn.shape<[K]>>) -> tensor<?x3x4xf32, #dyn.shape<[K, 3, 4]>> {
  %K = dyn.symbol "K" : index
  %y = graph.gather %x, %at {axis = 0 : i64} : tensor<5x12xf32>, tensor<?xi64, #dyn.shape<[K]>> -> tensor<?x12xf32, #dyn.shape<[K, 12]>>
  %h = graph.reshape %y : tensor<?x12xf32, #dyn.shape<[K, 12]>> -> tensor<?x3x4xf32, #dyn.shape<[K, 3, 4]>>
  %e = graph.compute ins(%h : tensor<?x3x4xf32, #dyn.shape<[K, 3, 4]>>) -> tensor<?x3x4xf32, #dyn.shape<[K, 3, 4]>>
      {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id3, #id3]} {
  ^bb0(%a: f32):
    %0 = arith.negf %a : f32
    graph.yield %0 : f32
  }
  return %e : tensor<?x3x4xf32, #dyn.shape<[K, 3, 4]>>
}

// Nothing says that A is a multiple of B, or B of A.
// CHECK: remark: %h stays a reshape of %y: neither of the sizes A and B is known to be a multiple of the other
func.func @sizes(%x: tensor<?x?xf32, #dyn.shape<[A, B]>>) -> tensor<?x?xf32, #dyn.shape<[B, A]>> {
  %A = dyn.symbol "A" : index
  %B = dyn.symbol "B" : index
  %y = graph.compute ins(%x : tensor<?x?xf32, #dyn.shape<[A, B]>>) -> tensor<?x?xf32, #dyn.shape<[A, B]>>
      {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %0 = arith.negf %a : f32
    graph.yield %0 : f32
  }
  %h = graph.reshape %y : tensor<?x?xf32, #dyn.shape<[A, B]>> -> tensor<?x?xf32, #dyn.shape<[B, A]>>
  %e = graph.compute ins(%h : tensor<?x?xf32, #dyn.shape<[B, A]>>) -> tensor<?x?xf32, #dyn.shape<[B, A]>>
      {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %0 = arith.negf %a : f32
    graph.yield %0 : f32
  }
  return %e : tensor<?x?xf32, #dyn.shape<[B, A]>>
}

// Before shapes are propagated a size may be any.
// CHECK: remark: %h stays a reshape of %y: a dimension would be split or joined, and its size is not known
func.func @unknown(%x: tensor<?xf32>) -> tensor<?x4xf32> {
  %y = graph.compute ins(%x : tensor<?xf32>) -> tensor<?xf32> {iterators = #graph.iterators<[parallel]>, maps = [#line, #line]} {
  ^bb0(%a: f32):
    %0 = arith.negf %a : f32
    graph.yield %0 : f32
  }
  %h = graph.reshape %y : tensor<?xf32> -> tensor<?x4xf32>
  %e = graph.compute ins(%h : tensor<?x4xf32>) -> tensor<?x4xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %0 = arith.negf %a : f32
    graph.yield %0 : f32
  }
  return %e : tensor<?x4xf32>
}

// Along a dimension of size 1 there is nothing to read but at its one place, unless what lies outside is read.
// CHECK: remark: %h stays a reshape of %y: %e reads outside it along a dimension of size 1
func.func @stacked(%x: tensor<4xf32>) -> tensor<4x2xf32> {
  %y = graph.compute ins(%x : tensor<4xf32>) -> tensor<4xf32> {iterators = #graph.iterators<[parallel]>, maps = [#line, #line]} {
  ^bb0(%a: f32):
    %0 = arith.negf %a : f32
    graph.yield %0 : f32
  }
  %h = graph.reshape %y : tensor<4xf32> -> tensor<4x1xf32>
  %e = graph.compute ins(%h : tensor<4x1xf32>) -> tensor<4x2xf32>
      {iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(d0, d1) -> (d0, d1 - 1)>, #id], oob = [0.0 : f32]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  return %e : tensor<4x2xf32>
}

// CHECK: remark: %h stays a reshape of %y: %e combines along a dimension of size 1
func.func @single(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.compute ins(%x : tensor<4xf32>) -> tensor<4xf32> {iterators = #graph.iterators<[parallel]>, maps = [#line, #line]} {
  ^bb0(%a: f32):
    %0 = arith.negf %a : f32
    graph.yield %0 : f32
  }
  %h = graph.reshape %y : tensor<4xf32> -> tensor<4x1xf32>
  %e = graph.compute ins(%h : tensor<4x1xf32>) -> tensor<4xf32>
      {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, affine_map<(d0, d1) -> (d0)>]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  return %e : tensor<4xf32>
}
