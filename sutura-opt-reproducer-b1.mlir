func.func @x(%x: tensor<?x?xf32, #dyn.shape<[N, M]>>, %w: tensor<?x?xf32, #dyn.shape<[P, Q]>>, %s: tensor<2xi64>) -> tensor<?x?xf32> {
  %y = graph.reshape %x, %s : tensor<?x?xf32, #dyn.shape<[N, M]>>, tensor<2xi64> -> tensor<?x?xf32>
  %z = graph.compute ins(%y, %w : tensor<?x?xf32>, tensor<?x?xf32, #dyn.shape<[P, Q]>>) -> tensor<?x?xf32> {
    iterators = ["parallel", "parallel"],
    maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
  } {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    graph.yield %0 : f32
  }
  return %z : tensor<?x?xf32>
}
func.func @s(%x: tensor<?xf32, #dyn.shape<[N]>>, %n: tensor<1xi64>) -> tensor<?xf32> {
  %start = graph.constant dense<0> : tensor<1xi64>
  %y = graph.slice %x[%start, %n] {axes = array<i64: 0>, steps = array<i64: 1>} : tensor<?xf32, #dyn.shape<[N]>>, tensor<1xi64>, tensor<1xi64> -> tensor<?xf32>
  %z = graph.compute ins(%y, %x : tensor<?xf32>, tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32> {
    iterators = ["parallel"],
    maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
  } {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    graph.yield %0 : f32
  }
  return %z : tensor<?xf32>
}

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(propagate-shapes,canonicalize,stitch,convert-graph-to-gir)",
      disable_threading: false,
      verify_each: true
    }
  }
#-}
