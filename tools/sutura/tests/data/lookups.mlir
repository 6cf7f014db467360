// Rows of two tables by index: kernels that differ only in what messages call the gather, so one.
!table = tensor<?x4xf32, #dyn.shape<[V, 4]>>
!other = tensor<?x4xf32, #dyn.shape<[W, 4]>>
!ids = tensor<?xi32, #dyn.shape<[K]>>
!rows = tensor<?x4xf32, #dyn.shape<[K, 4]>>
func.func @lookups(%table: !table, %other: !other, %ids: !ids) -> (!rows, !rows) {
  %V = dyn.symbol "V" : index
  %W = dyn.symbol "W" : index
  %K = dyn.symbol "K" : index
  %a = graph.gather %table, %ids {axis = 0 : i64} : !table, !ids -> !rows loc("words")
  %b = graph.gather %other, %ids {axis = 0 : i64} : !other, !ids -> !rows loc("places")
  return %a, %b : !rows, !rows
}
