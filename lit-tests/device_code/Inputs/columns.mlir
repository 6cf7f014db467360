// The sum of each column.
#ij = affine_map<(d0, d1) -> (d0, d1)>
#j = affine_map<(d0, d1) -> (d1)>
func.func @columns(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
  %s = graph.compute ins(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
    combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[reduce, parallel]>, maps = [#ij, #j]
  } {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  return %s : tensor<?xf32, #dyn.shape<[N]>>
}
