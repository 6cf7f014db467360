// RUN: sutura-opt %s --propagate-shapes | FileCheck %s

// What is known of T is known of S where T is S + 1: its range, and likely values that S may have. What S may not be is likely no more.
// CHECK-LABEL: func.func @next
// CHECK: %S = dyn.symbol "S" {likely = [7], range = [2, 49]} : index
// CHECK: %T = dyn.symbol "T" {div = 4 : i64, likely = [8], range = [3, 50]} : index
func.func @next(%x: tensor<?xf32, #dyn.shape<[S + 1]>>, %y: tensor<?xf32, #dyn.shape<[T]>>) -> tensor<?xf32> {
  %S = dyn.symbol "S" {likely = [80], range = [1, 100]} : index
  %T = dyn.symbol "T" {range = [3, 50], likely = [8], div = 4} : index
  %0 = graph.compute ins(%x, %y : tensor<?xf32, #dyn.shape<[S + 1]>>, tensor<?xf32, #dyn.shape<[T]>>) -> tensor<?xf32> {iterators = ["parallel"], maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    graph.yield %r : f32
  }
  return %0 : tensor<?xf32>
}
