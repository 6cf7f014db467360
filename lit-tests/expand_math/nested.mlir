// RUN: sutura-opt %s --expand-math | FileCheck %s

// What stands in a region that is isolated is expanded too.
// CHECK-LABEL: func.func @nested(
// CHECK: graph.fusion
// CHECK-NOT: math.exp
// CHECK: return
func.func @nested(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.fusion(%x : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %0 = graph.compute ins(%a : tensor<4xf32>) -> tensor<4xf32> {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
    ^bb0(%p: f32):
      %v = math.exp %p : f32
      graph.yield %v : f32
    }
    graph.yield %0 : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
