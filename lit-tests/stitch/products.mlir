// RUN: sutura-opt %s --stitch | FileCheck %s
// RUN: sutura-opt %s --stitch --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

!x = tensor<?x?xf32, #dyn.shape<[M, K]>>
!y = tensor<?x64xf32, #dyn.shape<[M, 64]>>
!z = tensor<?x16xf32, #dyn.shape<[M, 16]>>
!w = tensor<?x64xf32, #dyn.shape<[K, 64]>>
!v = tensor<?x16xf32, #dyn.shape<[K, 16]>>
#id = affine_map<(d0, d1) -> (d0, d1)>
#second = affine_map<(d0, d1) -> (d1)>
#lhs = affine_map<(d0, d1, d2) -> (d0, d2)>
#rhs = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>

// Three products of one left factor, of different widths and with different ops behind them: one region.
// CHECK-LABEL: func.func @three
// CHECK: graph.fusion(
// CHECK-COUNT-5: graph.compute
// CHECK-NOT: graph.fusion
// CHECK: return
func.func @three(%x: !x, %q: !w, %k: !v, %u: !v, %bias: tensor<64xf32>) -> (!y, !z, !z) {
  %M = dyn.symbol "M" : index
  %K = dyn.symbol "K" : index
  // REMARK: products.mlir:[[#@LINE+1]]:8: remark: a region of the family 'contract' with 5 ops
  %a = graph.compute ins(%x, %q : !x, !w) -> !y {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#lhs, #rhs, #out]} {
  ^bb0(%l: f32, %r: f32):
    %m = arith.mulf %l, %r : f32
    graph.yield %m : f32
  }
  %b = graph.compute ins(%a, %bias : !y, tensor<64xf32>) -> !y {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #second, #id]} {
  ^bb0(%l: f32, %r: f32):
    %m = arith.addf %l, %r : f32
    graph.yield %m : f32
  }
  %c = graph.compute ins(%x, %k : !x, !v) -> !z {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#lhs, #rhs, #out]} {
  ^bb0(%l: f32, %r: f32):
    %m = arith.mulf %l, %r : f32
    graph.yield %m : f32
  }
  %d = graph.compute ins(%c : !z) -> !z {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%l: f32):
    %m = math.tanh %l : f32
    graph.yield %m : f32
  }
  %e = graph.compute ins(%x, %u : !x, !v) -> !z {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#lhs, #rhs, #out]} {
  ^bb0(%l: f32, %r: f32):
    %m = arith.mulf %l, %r : f32
    graph.yield %m : f32
  }
  return %b, %d, %e : !y, !z, !z
}

// The second product reads what is combined of what the first makes: as one they would be a cycle.
// CHECK-LABEL: func.func @cycle
// CHECK: %[[A:.*]] = graph.fusion(%x, %w :
// CHECK: %[[T:.*]] = graph.fusion(%[[A]] :
// CHECK: graph.fusion(%[[A]], %[[T]], %x :
// CHECK-SAME: {reasons = [
// CHECK-SAME: %a: %t stands between (apart
func.func @cycle(%x: tensor<?x?xf32, #dyn.shape<[M, M]>>, %w: tensor<?x64xf32, #dyn.shape<[M, 64]>>) -> !y {
  %M = dyn.symbol "M" : index
  %a = graph.compute ins(%x, %w : tensor<?x?xf32, #dyn.shape<[M, M]>>, tensor<?x64xf32, #dyn.shape<[M, 64]>>) -> !y {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#lhs, #rhs, #out]} {
  ^bb0(%l: f32, %r: f32):
    %m = arith.mulf %l, %r : f32
    graph.yield %m : f32
  }
  %t = graph.compute ins(%a : !y) -> tensor<?xf32, #dyn.shape<[M]>> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, affine_map<(d0, d1) -> (d0)>]} {
  ^bb0(%l: f32):
    graph.yield %l : f32
  }
  %s = graph.compute ins(%a, %t : !y, tensor<?xf32, #dyn.shape<[M]>>) -> !y {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, affine_map<(d0, d1) -> (d0)>, #id]} {
  ^bb0(%l: f32, %r: f32):
    %m = arith.divf %l, %r : f32
    graph.yield %m : f32
  }
  %b = graph.compute ins(%x, %s : tensor<?x?xf32, #dyn.shape<[M, M]>>, !y) -> !y {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#lhs, #rhs, #out]} {
  ^bb0(%l: f32, %r: f32):
    %m = arith.mulf %l, %r : f32
    graph.yield %m : f32
  }
  return %b : !y
}

// Products of different left factors share their weights, and stay apart.
// CHECK-LABEL: func.func @other_factor
// CHECK: graph.fusion(%x, %w :
// CHECK: graph.fusion(%y, %w :
// CHECK-SAME: {reasons = ["%a: the left factor of one product is %x and of another %y (apart
func.func @other_factor(%x: !x, %y: !x, %w: !w) -> (!y, !y) {
  %M = dyn.symbol "M" : index
  %K = dyn.symbol "K" : index
  %a = graph.compute ins(%x, %w : !x, !w) -> !y {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#lhs, #rhs, #out]} {
  ^bb0(%l: f32, %r: f32):
    %m = arith.mulf %l, %r : f32
    graph.yield %m : f32
  }
  // REMARK: products.mlir:[[#@LINE+1]]:8: remark: not stitched with %a: the left factor of one product is %x and of another %y
  %b = graph.compute ins(%y, %w : !x, !w) -> !y {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#lhs, #rhs, #out]} {
  ^bb0(%l: f32, %r: f32):
    %m = arith.mulf %l, %r : f32
    graph.yield %m : f32
  }
  return %a, %b : !y, !y
}

// What reads a product's left factor and is no product stays apart from the products.
// CHECK-LABEL: func.func @no_product
// CHECK: graph.fusion(%x, %w, %v :
// CHECK: graph.fusion(%x :
func.func @no_product(%x: !x, %w: !w, %v: !v) -> (!y, !z, tensor<?xf32, #dyn.shape<[M]>>) {
  %M = dyn.symbol "M" : index
  %K = dyn.symbol "K" : index
  %a = graph.compute ins(%x, %w : !x, !w) -> !y {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#lhs, #rhs, #out]} {
  ^bb0(%l: f32, %r: f32):
    %m = arith.mulf %l, %r : f32
    graph.yield %m : f32
  }
  %b = graph.compute ins(%x, %v : !x, !v) -> !z {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#lhs, #rhs, #out]} {
  ^bb0(%l: f32, %r: f32):
    %m = arith.mulf %l, %r : f32
    graph.yield %m : f32
  }
  %s = graph.compute ins(%x : !x) -> tensor<?xf32, #dyn.shape<[M]>> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, affine_map<(d0, d1) -> (d0)>]} {
  ^bb0(%l: f32):
    graph.yield %l : f32
  }
  return %a, %b, %s : !y, !z, tensor<?xf32, #dyn.shape<[M]>>
}
