
func.func @number(%x: tensor<100x64xf32>, %w: tensor<64x64xf32>) -> tensor<100x64xf32> {
  // expected-error @+1 {{has an attribute `graph.tile` that is no string}}
  %h = graph.fusion(%x, %w : tensor<100x64xf32>, tensor<64x64xf32>) -> tensor<100x64xf32> {graph.tile = 12 : i64, kind = "contract"} {
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

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(convert-graph-to-gir)",
      disable_threading: false,
      verify_each: true
    }
  }
#-}
