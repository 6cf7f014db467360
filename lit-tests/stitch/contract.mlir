// RUN: sutura-opt %s --stitch | FileCheck %s
// RUN: sutura-opt %s --stitch --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: sutura-opt %s --stitch --pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=STATS

!x = tensor<?x?xf32, #dyn.shape<[M, K]>>
!w = tensor<?x64xf32, #dyn.shape<[K, 64]>>
!y = tensor<?x64xf32, #dyn.shape<[M, 64]>>
#id = affine_map<(d0, d1) -> (d0, d1)>
#second = affine_map<(d0, d1) -> (d1)>
#lhs = affine_map<(d0, d1, d2) -> (d0, d2)>
#rhs = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>

// STATS: (S) 7 num-regions
// STATS: (S) 11 num-ops
// STATS: (S) 1 num-copies-folded

// A product takes the elementwise ops behind it along: bias, activation, residual.
// CHECK-LABEL: func.func @epilogue
// CHECK: graph.fusion(%x, %w, %bias, %r :
// CHECK-NOT: graph.fusion
func.func @epilogue(%x: !x, %w: !w, %bias: tensor<64xf32>, %r: !y) -> !y {
  %M = dyn.symbol "M" : index
  %K = dyn.symbol "K" : index
  // REMARK: contract.mlir:[[#@LINE+1]]:8: remark: a region of the family 'contract' with 4 ops
  %p = graph.compute ins(%x, %w : !x, !w) -> !y {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#lhs, #rhs, #out]} {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  %biased = graph.compute ins(%p, %bias : !y, tensor<64xf32>) -> !y {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #second, #id]} {
  ^bb0(%a: f32, %b: f32):
    %v = arith.addf %a, %b : f32
    graph.yield %v : f32
  }
  %t = graph.compute ins(%biased : !y) -> !y {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %v = math.tanh %a : f32
    graph.yield %v : f32
  }
  %s = graph.compute ins(%t, %r : !y, !y) -> !y {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%a: f32, %b: f32):
    %v = arith.addf %a, %b : f32
    graph.yield %v : f32
  }
  return %s : !y
}

// Two products with a chain between them: the chain goes with the first, as the second reads it many times.
// CHECK-LABEL: func.func @two_products
// CHECK: %[[T:.*]] = graph.fusion(%x, %w :
// CHECK: math.tanh
// CHECK: graph.fusion(%[[T]], %w2 :
// CHECK-SAME: {reasons = ["%t: both contract, and what lies between is no softmax (apart
// CHECK-NOT: graph.fusion
func.func @two_products(%x: !x, %w: !w, %w2: tensor<64x64xf32>) -> !y {
  %M = dyn.symbol "M" : index
  %K = dyn.symbol "K" : index
  // REMARK: contract.mlir:[[#@LINE+1]]:8: remark: a region of the family 'contract' with 2 ops
  %p = graph.compute ins(%x, %w : !x, !w) -> !y {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#lhs, #rhs, #out]} {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  %t = graph.compute ins(%p : !y) -> !y {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %v = math.tanh %a : f32
    graph.yield %v : f32
  }
  // REMARK: contract.mlir:[[#@LINE+2]]:8: remark: a region of the family 'contract' with 1 op
  // REMARK: contract.mlir:[[#@LINE+1]]:8: remark: not stitched with %t: both contract, and what lies between is no softmax
  %q = graph.compute ins(%t, %w2 : !y, tensor<64x64xf32>) -> !y {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#lhs, #rhs, #out]} {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  return %q : !y
}

// The rows of a product are not combined in its kernel, and rows of any length are made before it.
// CHECK-LABEL: func.func @rows_of_a_product
// CHECK: %[[E:.*]] = graph.fusion(%x :
// CHECK: %[[P:.*]] = graph.fusion(%[[E]], %w :
// CHECK-SAME: {reasons = ["%e: rows of %e have K elements, not known to be at most 8192 (apart
// CHECK: graph.fusion(%[[P]] :
// CHECK-SAME: {reasons = ["%p: %s is combined from whole rows of the product (apart
func.func @rows_of_a_product(%x: !x, %w: !w) -> tensor<?xf32, #dyn.shape<[M]>> {
  %M = dyn.symbol "M" : index
  %K = dyn.symbol "K" : index
  %e = graph.compute ins(%x : !x) -> !x {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %v = math.exp %a : f32
    graph.yield %v : f32
  }
  // REMARK: not stitched with %e: rows of %e have K elements, not known to be at most 8192
  %p = graph.compute ins(%e, %w : !x, !w) -> !y {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#lhs, #rhs, #out]} {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  // REMARK: not stitched with %p: %s is combined from whole rows of the product
  %s = graph.compute ins(%p : !y) -> tensor<?xf32, #dyn.shape<[M]>> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, affine_map<(d0, d1) -> (d0)>]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  return %s : tensor<?xf32, #dyn.shape<[M]>>
}

// A factor that is a transposition is read as it lies; the copy is gone.
// CHECK-LABEL: func.func @transposed
// CHECK: graph.fusion(%x, %v :
// CHECK: maps = [#{{.*}}, #[[T:.*]], #{{.*}}]
// CHECK-NOT: graph.compute
// CHECK: return
func.func @transposed(%x: !x, %v: tensor<64x?xf32, #dyn.shape<[64, K]>>) -> !y {
  %M = dyn.symbol "M" : index
  %K = dyn.symbol "K" : index
  %w = graph.compute ins(%v : tensor<64x?xf32, #dyn.shape<[64, K]>>) -> !w {iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(d0, d1) -> (d1, d0)>, #id]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  // REMARK: contract.mlir:[[#@LINE+1]]:8: remark: a region of the family 'contract' with 1 op
  %p = graph.compute ins(%x, %w : !x, !w) -> !y {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#lhs, #rhs, #out]} {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %b : f32
    graph.yield %m : f32
  }
  return %p : !y
}
