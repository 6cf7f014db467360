// RUN: sutura-opt %s --stitch | FileCheck %s
// RUN: sutura-opt %s --stitch --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// What a product's factors are computed from goes into its region where that pays.

!x = tensor<?x64xf32, #dyn.shape<[M, 64]>>
!w = tensor<64x48xf32>
!y = tensor<?x48xf32, #dyn.shape<[M, 48]>>
!r = tensor<?xf32, #dyn.shape<[M]>>
!xk = tensor<?x?xf32, #dyn.shape<[M, K]>>
!wk = tensor<?x48xf32, #dyn.shape<[K, 48]>>
#id = affine_map<(d0, d1) -> (d0, d1)>
#first = affine_map<(d0, d1) -> (d0)>
#second = affine_map<(d0, d1) -> (d1)>
#lhs = affine_map<(d0, d1, d2) -> (d0, d2)>
#rhs = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>

// Elementwise ops on the left factor, and on the right one.
// CHECK-LABEL: func.func @both_factors
// CHECK: graph.fusion(%x, %bias, %q, %scale :
// CHECK-NOT: graph.fusion
func.func @both_factors(%x: !x, %bias: tensor<64xf32>, %q: tensor<64x48xi8>, %scale: tensor<48xf32>) -> !y {
  %M = dyn.symbol "M" {likely = [4096]} : index
  // REMARK: prologue.mlir:[[#@LINE+1]]:8: remark: a region of the family 'contract' with 3 ops
  %e = graph.compute ins(%x, %bias : !x, tensor<64xf32>) -> !x {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #second, #id]} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    %v = math.tanh %s : f32
    graph.yield %v : f32
  }
  %w = graph.compute ins(%q, %scale : tensor<64x48xi8>, tensor<48xf32>) -> !w {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #second, #id]} {
  ^bb0(%a: i8, %b: f32):
    %f = arith.sitofp %a : i8 to f32
    %v = arith.mulf %f, %b : f32
    graph.yield %v : f32
  }
  %p = graph.compute ins(%e, %w : !x, !w) -> !y {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#lhs, #rhs, #out]} {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  return %p : !y
}

// Numbers that are combined from rows of the left factor.
// CHECK-LABEL: func.func @row_statistics
// CHECK: graph.fusion(%x, %w :
// CHECK-NOT: graph.fusion
func.func @row_statistics(%x: !x, %w: !w) -> !y {
  %M = dyn.symbol "M" {likely = [4096]} : index
  // REMARK: prologue.mlir:[[#@LINE+1]]:8: remark: a region of the family 'contract' with 3 ops
  %m = graph.compute ins(%x : !x) -> !r {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #first]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %e = graph.compute ins(%x, %m : !x, !r) -> !x {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #id]} {
  ^bb0(%a: f32, %b: f32):
    %v = arith.divf %a, %b : f32
    graph.yield %v : f32
  }
  %p = graph.compute ins(%e, %w : !x, !w) -> !y {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#lhs, #rhs, #out]} {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  return %p : !y
}

// A factor that is used outside too is made in memory.
// CHECK-LABEL: func.func @used_outside
// CHECK: %[[E:.*]] = graph.fusion(%x :
// CHECK: graph.fusion(%[[E]], %w :
// CHECK-SAME: {reasons = ["%e: %e is used outside too, so it is made in memory (apart
func.func @used_outside(%x: !x, %w: !w) -> (!x, !y) {
  %M = dyn.symbol "M" {likely = [4096]} : index
  %e = graph.compute ins(%x : !x) -> !x {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %v = math.exp %a : f32
    graph.yield %v : f32
  }
  // REMARK: not stitched with %e: %e is used outside too, so it is made in memory
  %p = graph.compute ins(%e, %w : !x, !w) -> !y {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#lhs, #rhs, #out]} {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  return %e, %p : !x, !y
}

// Rows of any length do not stay near; those of a bounded one do.
// CHECK-LABEL: func.func @long_rows
// CHECK: %[[E:.*]] = graph.fusion(%x :
// CHECK: graph.fusion(%[[E]], %w :
// CHECK-SAME: reasons = ["%e: rows of %e have K elements, not known to be at most 8192 (apart
func.func @long_rows(%x: !xk, %w: !wk) -> !y {
  %M = dyn.symbol "M" {likely = [4096]} : index
  %K = dyn.symbol "K" : index
  %e = graph.compute ins(%x : !xk) -> !xk {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %v = math.exp %a : f32
    graph.yield %v : f32
  }
  // REMARK: not stitched with %e: rows of %e have K elements, not known to be at most 8192
  %p = graph.compute ins(%e, %w : !xk, !wk) -> !y {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#lhs, #rhs, #out]} {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  return %p : !y
}

// CHECK-LABEL: func.func @bounded_rows
// CHECK: graph.fusion(%x, %w :
// CHECK-NOT: graph.fusion
func.func @bounded_rows(%x: !xk, %w: !wk) -> !y {
  %M = dyn.symbol "M" {likely = [4096]} : index
  %K = dyn.symbol "K" {range = [0, 8192], likely = [64]} : index
  %e = graph.compute ins(%x : !xk) -> !xk {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %v = math.exp %a : f32
    graph.yield %v : f32
  }
  %p = graph.compute ins(%e, %w : !xk, !wk) -> !y {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#lhs, #rhs, #out]} {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  return %p : !y
}

// Beyond the last row a tile has zeros, and a quotient of them would end the program.
// CHECK-LABEL: func.func @quotients_of_integers
// CHECK: graph.fusion(%x, %d :
// CHECK: {reasons = ["%e: %e divides integers, also where the factor has none (apart
func.func @quotients_of_integers(%x: tensor<?x64xi32, #dyn.shape<[M, 64]>>, %d: tensor<?x64xi32, #dyn.shape<[M, 64]>>, %w: !w) -> !y {
  %M = dyn.symbol "M" {likely = [4096]} : index
  %e = graph.compute ins(%x, %d : tensor<?x64xi32, #dyn.shape<[M, 64]>>, tensor<?x64xi32, #dyn.shape<[M, 64]>>) -> !x {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%a: i32, %b: i32):
    %s = arith.divsi %a, %b : i32
    %v = arith.sitofp %s : i32 to f32
    graph.yield %v : f32
  }
  %p = graph.compute ins(%e, %w : !x, !w) -> !y {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#lhs, #rhs, #out]} {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  return %p : !y
}

// A right factor's rows are not known as a whole where its panels are packed.
// CHECK-LABEL: func.func @combined_right_factor
// CHECK: %[[M:.*]] = graph.fusion(%v :
// CHECK: graph.fusion(%v, %[[M]], %x :
// CHECK-SAME: {reasons = ["%m: %m is combined before the product's right factor is packed (apart
func.func @combined_right_factor(%x: !x, %v: !w) -> !y {
  %M = dyn.symbol "M" {likely = [4096]} : index
  %m = graph.compute ins(%v : !w) -> tensor<64xf32> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #first]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %s = graph.compute ins(%v, %m : !w, tensor<64xf32>) -> !w {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #id]} {
  ^bb0(%a: f32, %b: f32):
    %d = arith.subf %a, %b : f32
    graph.yield %d : f32
  }
  %p = graph.compute ins(%x, %s : !x, !w) -> !y {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#lhs, #rhs, #out]} {
  ^bb0(%a: f32, %b: f32):
    %q = arith.mulf %a, %b : f32
    graph.yield %q : f32
  }
  return %p : !y
}
