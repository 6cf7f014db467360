func.func @f(%x: tensor<0x1099511627776x1099511627776xi64>) -> tensor<1099511627776x1099511627776xi64> {
  %max = graph.compute ins(%x : tensor<0x1099511627776x1099511627776xi64>) -> tensor<1099511627776x1099511627776xi64> {
    iterators = ["reduce", "parallel", "parallel"], combiners = ["max"],
    maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>]
  } {
  ^bb0(%e: i64):
    graph.yield %e : i64
  }
  return %max : tensor<1099511627776x1099511627776xi64>
}

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(propagate-shapes)",
      disable_threading: false,
      verify_each: true
    }
  }
#-}
