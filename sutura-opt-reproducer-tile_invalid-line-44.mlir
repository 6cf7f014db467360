
func.func @rows(%x: tensor<100x64xf32>, %w: tensor<64x64xf32>) -> tensor<100x64xf32> {
  // expected-error @+1 {{regions of kind 'row' have no register tiles to choose}}
  %h = graph.fusion(%x, %w : tensor<100x64xf32>, tensor<64x64xf32>) -> tensor<100x64xf32> {graph.tile = "12x32", kind = "row"} {
  ^bb0(%a: tensor<100x64xf32>, %b: tensor<64x64xf32>):
    %p = graph.compute ins(%a : tensor<100x64xf32>) -> tensor<100x64xf32> {
      iterators = ["parallel", "parallel"], maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
    } {
    ^bb0(%e: f32):
      %s = arith.mulf %e, %e : f32
      graph.yield %s : f32
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
