// A size that data decide, in the middle and on the outside: where numbers are not zero, those numbers, twice their value, their sum,
// and all that beside another input of as many elements as are found.
!matrix = tensor<?x?xf32, #dyn.shape<[M, N]>>
!found = tensor<?xf32, #dyn.shape<[K]>>

func.func @main(%x: !matrix, %w: tensor<?xf32, #dyn.shape<[W]>>)
    -> (tensor<2x?xi64, #dyn.shape<[2, K]>> {graph.name = "places"}, !found {graph.name = "doubled"},
        tensor<f32> {graph.name = "sum"}, tensor<?xf32> {graph.name = "joined"}) {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %W = dyn.symbol "W" : index
  %K = dyn.symbol "K" : index
  %p = graph.non_zero %x : !matrix -> tensor<2x?xi64, #dyn.shape<[2, K]>>
  %t = graph.compute ins(%p : tensor<2x?xi64, #dyn.shape<[2, K]>>) -> tensor<?x2xi64, #dyn.shape<[K, 2]>>
      {iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>]} {
  ^bb0(%a: i64):
    graph.yield %a : i64
  }
  %v = graph.gather_nd %x, %t : !matrix, tensor<?x2xi64, #dyn.shape<[K, 2]>> -> !found
  %d = graph.compute ins(%v : !found) -> !found
      {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
  ^bb0(%a: f32):
    %b = arith.addf %a, %a : f32
    graph.yield %b : f32
  }
  %s = graph.compute ins(%v : !found) -> tensor<f32>
      {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[reduce]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %j = graph.concat %v, %w {axis = 0 : i64} : !found, tensor<?xf32, #dyn.shape<[W]>> -> tensor<?xf32>
  return %p, %d, %s, %j : tensor<2x?xi64, #dyn.shape<[2, K]>>, !found, tensor<f32>, tensor<?xf32>
}
