// Stitching leaves what routines compute outside regions, and says by which; so does the conversion.

// RUN: sutura-opt %s --propagate-shapes --stitch --convert-graph-to-gir --remarks 2>&1 >/dev/null | FileCheck %s

// CHECK: 'graph.sort' is computed by the routine 'sort/1' of the runtime; it stays outside regions
// CHECK: the routine 'sort/1' of the runtime computes it
func.func @f(%x: tensor<?x30xf32>) -> tensor<?x30xf32> {
  %a = graph.compute ins(%x : tensor<?x30xf32>) -> tensor<?x30xf32>
      {iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]} {
  ^bb0(%e: f32):
    %b = arith.addf %e, %e : f32
    graph.yield %b : f32
  }
  %y = graph.sort %a {axis = 1 : i64, descending = array<i64: 0>} : tensor<?x30xf32> -> tensor<?x30xf32>
  return %y : tensor<?x30xf32>
}
