// What a launch makes of constants is a constant, also where a routine reads it; what a routine makes of constants is made in
// each run.

// RUN: sutura-opt %s --propagate-shapes --stitch --convert-graph-to-gir --fold-launches --plan-buffers | FileCheck %s
// RUN: sutura-opt %s --propagate-shapes --stitch --convert-graph-to-gir --fold-launches --check-passes=1 --strict -o /dev/null

// CHECK-LABEL: rt.program @f(
// CHECK-NOT: launch
// CHECK: %[[C:.*]] = constant {{.*}} = dense<[6.000000e+00, 2.000000e+00, 4.000000e+00]>
// CHECK-NOT: launch
// CHECK: call "sort" version 1 ins(%[[C]]) outs(%[[S:.*]]) scratch(
// CHECK: launch {{.*}}(%[[S]], %{{.*}})
func.func @f() -> tensor<3xf32> {
  %x = graph.constant dense<[3.0, 1.0, 2.0]> : tensor<3xf32>
  %a = graph.compute ins(%x : tensor<3xf32>) -> tensor<3xf32>
      {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
  ^bb0(%e: f32):
    %b = arith.addf %e, %e : f32
    graph.yield %b : f32
  }
  %s = graph.sort %a {axis = 0 : i64, descending = array<i64: 0>} : tensor<3xf32> -> tensor<3xf32>
  %y = graph.compute ins(%s : tensor<3xf32>) -> tensor<3xf32>
      {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
  ^bb0(%e: f32):
    %b = arith.mulf %e, %e : f32
    graph.yield %b : f32
  }
  return %y : tensor<3xf32>
}
