// A region with products is lowered with the register tile that its attribute names, whatever is predicted.

// RUN: sutura-opt %s --split-input-file --convert-graph-to-gir | FileCheck %s
// RUN: sutura-opt %s --split-input-file --pass-pipeline='builtin.module(attach-target{name=x86_avx512},convert-graph-to-gir{search=predict})' | FileCheck %s

// CHECK-LABEL: gir.kernel @narrow_contract
// CHECK: gir.contract {{.*}} !gir.tile<vec, f32, [12, 16]>
// CHECK-NOT: [12, 32]
// CHECK: rt.program @narrow
func.func @narrow(%x: tensor<100x64xf32>, %w: tensor<64x64xf32>) -> tensor<100x64xf32> {
  %h = graph.fusion(%x, %w : tensor<100x64xf32>, tensor<64x64xf32>) -> tensor<100x64xf32> {graph.tile = "12x16", kind = "contract"} {
  ^bb0(%a: tensor<100x64xf32>, %b: tensor<64x64xf32>):
    %p = graph.compute ins(%a, %b : tensor<100x64xf32>, tensor<64x64xf32>) -> tensor<100x64xf32> {
      iterators = ["parallel", "parallel", "reduce"], combiners = ["add"],
      maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>]
    } {
    ^bb0(%e: f32, %f: f32):
      %m = arith.mulf %e, %f : f32
      graph.yield %m : f32
    }
    graph.yield %p : tensor<100x64xf32>
  }
  return %h : tensor<100x64xf32>
}

// -----

// CHECK-LABEL: gir.kernel @usual_contract
// CHECK: gir.contract {{.*}} !gir.tile<vec, f32, [12, 32]>
// CHECK-NOT: [12, 16]
// CHECK: rt.program @usual
func.func @usual(%x: tensor<100x64xf32>, %w: tensor<64x64xf32>) -> tensor<100x64xf32> {
  %h = graph.fusion(%x, %w : tensor<100x64xf32>, tensor<64x64xf32>) -> tensor<100x64xf32> {graph.tile = "12x32", kind = "contract"} {
  ^bb0(%a: tensor<100x64xf32>, %b: tensor<64x64xf32>):
    %p = graph.compute ins(%a, %b : tensor<100x64xf32>, tensor<64x64xf32>) -> tensor<100x64xf32> {
      iterators = ["parallel", "parallel", "reduce"], combiners = ["add"],
      maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>]
    } {
    ^bb0(%e: f32, %f: f32):
      %m = arith.mulf %e, %f : f32
      graph.yield %m : f32
    }
    graph.yield %p : tensor<100x64xf32>
  }
  return %h : tensor<100x64xf32>
}
