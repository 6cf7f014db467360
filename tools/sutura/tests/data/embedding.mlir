// Rows of a table by index, doubled.
func.func @embedding(%table: tensor<?x4xf32, #dyn.shape<[V, 4]>>, %ids: tensor<?xi32, #dyn.shape<[K]>>)
    -> tensor<?x4xf32, #dyn.shape<[K, 4]>> {
  %V = dyn.symbol "V" : index
  %K = dyn.symbol "K" : index
  %e = graph.gather %table, %ids {axis = 0 : i64}
    : tensor<?x4xf32, #dyn.shape<[V, 4]>>, tensor<?xi32, #dyn.shape<[K]>> -> tensor<?x4xf32, #dyn.shape<[K, 4]>> loc("words")
  %y = graph.compute ins(%e : tensor<?x4xf32, #dyn.shape<[K, 4]>>) -> tensor<?x4xf32, #dyn.shape<[K, 4]>> {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>]
  } {
  ^bb0(%a: f32):
    %0 = arith.addf %a, %a : f32
    graph.yield %0 : f32
  }
  return %y : tensor<?x4xf32, #dyn.shape<[K, 4]>>
}
