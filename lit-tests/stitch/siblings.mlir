// RUN: sutura-opt %s --stitch --remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=FAMILY
// RUN: sutura-opt %s --stitch | FileCheck %s
// FAMILY: a region of the family 'row' with 3 ops
// FAMILY: a region of the family 'row' with 1 op:
// FAMILY: a region of the family 'row' with 1 op:
// FAMILY: a region of the family 'row' with 1 op:
// FAMILY: a region of the family 'contract' with 2 ops

!m = tensor<?x?xf32, #dyn.shape<[M, N]>>
!k = tensor<?x?xf32, #dyn.shape<[K, N]>>
!row = tensor<?xf32, #dyn.shape<[N]>>
!sum = tensor<?xf32, #dyn.shape<[M]>>
#id = affine_map<(d0, d1) -> (d0, d1)>
#first = affine_map<(d0, d1) -> (d0)>
#second = affine_map<(d0, d1) -> (d1)>

// Two statistics and a copy of one tensor: one kernel reads it once and makes all three.
// CHECK-LABEL: func.func @statistics
// CHECK: %s, %t, %e = graph.fusion(%x :
// CHECK-NOT: graph.fusion
// CHECK: return
func.func @statistics(%x: !m) -> (!sum, !sum, !m) {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %s = graph.compute ins(%x : !m) -> !sum {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #first]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %t = graph.compute ins(%x : !m) -> !sum {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #first]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %e = graph.compute ins(%x : !m) -> !m {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %v = math.exp %a : f32
    graph.yield %v : f32
  }
  return %s, %t, %e : !sum, !sum, !m
}

// Chains that share a row: as many rows are not known to be equal, and stay two kernels.
// CHECK-LABEL: func.func @unknown
// CHECK-COUNT-2: graph.fusion
// CHECK-NOT: graph.fusion
// CHECK: return
func.func @unknown(%x: !m, %y: !k, %r: !row) -> (!m, !k) {
  %M = dyn.symbol "M" : index
  %K = dyn.symbol "K" : index
  %N = dyn.symbol "N" : index
  %a = graph.compute ins(%x, %r : !m, !row) -> !m {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #second, #id]} {
  ^bb0(%p: f32, %q: f32):
    %v = arith.addf %p, %q : f32
    graph.yield %v : f32
  }
  %b = graph.compute ins(%y, %r : !k, !row) -> !k {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #second, #id]} {
  ^bb0(%p: f32, %q: f32):
    %v = arith.mulf %p, %q : f32
    graph.yield %v : f32
  }
  return %a, %b : !m, !k
}

// What lies between keeps the ends of an edge apart: a -> product -> b, a -> b.
// CHECK-LABEL: func.func @around
// CHECK: %[[A:.*]] = graph.fusion(%x :
// CHECK: graph.fusion(%[[A]], %w
// CHECK: return
func.func @around(%x: !m, %w: tensor<?x?xf32, #dyn.shape<[N, N]>>) -> !m {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %a = graph.compute ins(%x : !m) -> !m {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%p: f32):
    %v = math.exp %p : f32
    graph.yield %v : f32
  }
  %g = graph.compute ins(%a, %w : !m, tensor<?x?xf32, #dyn.shape<[N, N]>>) -> !m {
    iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>,
    maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>]
  } {
  ^bb0(%p: f32, %q: f32):
    %v = arith.mulf %p, %q : f32
    graph.yield %v : f32
  }
  %b = graph.compute ins(%a, %g : !m, !m) -> !m {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%p: f32, %q: f32):
    %v = arith.addf %p, %q : f32
    graph.yield %v : f32
  }
  return %b : !m
}
