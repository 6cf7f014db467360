// Each routine of the runtime once, with a kernel between: the numbers of a line sorted, and of the powers of their spectrum the
// greatest with their places.
func.func @main(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>)
    -> (tensor<?x?xf32, #dyn.shape<[M, N]>> {graph.name = "sorted"}, tensor<?x3xf32> {graph.name = "best"}, tensor<?x3xi64> {graph.name = "places"}) {
  %s = graph.sort %x {axis = 1 : i64, descending = array<i64: 0>} : tensor<?x?xf32, #dyn.shape<[M, N]>> -> tensor<?x?xf32, #dyn.shape<[M, N]>>
  %r = graph.reshape %s : tensor<?x?xf32, #dyn.shape<[M, N]>> -> tensor<?x?x1xf32, #dyn.shape<[M, N, 1]>>
  %f = graph.fft %r [N] {axis = 1 : i64, onesided} : tensor<?x?x1xf32, #dyn.shape<[M, N, 1]>> -> tensor<?x?x2xf32, #dyn.shape<[M, N floordiv 2 + 1, 2]>>
  %p = graph.compute ins(%f : tensor<?x?x2xf32, #dyn.shape<[M, N floordiv 2 + 1, 2]>>) -> tensor<?x?xf32, #dyn.shape<[M, N floordiv 2 + 1]>>
      {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>,
       maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>]} {
  ^bb0(%e: f32):
    %q = arith.mulf %e, %e : f32
    graph.yield %q : f32
  }
  %v, %i = graph.top_k %p [3] {axis = 1 : i64} : tensor<?x?xf32, #dyn.shape<[M, N floordiv 2 + 1]>> -> tensor<?x3xf32>, tensor<?x3xi64>
  return %s, %v, %i : tensor<?x?xf32, #dyn.shape<[M, N]>>, tensor<?x3xf32>, tensor<?x3xi64>
}
