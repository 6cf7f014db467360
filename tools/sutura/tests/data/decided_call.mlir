// A function in which data decide a size, called twice, the second time through another one; what it finds is summed as well.
!list = tensor<?xf32, #dyn.shape<[N]>>

func.func private @places(%x: !list) -> tensor<1x?xi64, #dyn.shape<[1, K]>> {
  %p = graph.non_zero %x : !list -> tensor<1x?xi64, #dyn.shape<[1, K]>>
  return %p : tensor<1x?xi64, #dyn.shape<[1, K]>>
}

func.func private @through(%x: tensor<?xf32, #dyn.shape<[M]>>) -> tensor<1x?xi64> {
  %p = call @places(%x) : (tensor<?xf32, #dyn.shape<[M]>>) -> tensor<1x?xi64>
  return %p : tensor<1x?xi64>
}

func.func @main(%x: !list, %y: tensor<?xf32, #dyn.shape<[M]>>) -> (tensor<1x?xi64>, tensor<1x?xi64>, tensor<i64>) {
  %a = call @places(%x) : (!list) -> tensor<1x?xi64>
  %b = call @through(%y) : (tensor<?xf32, #dyn.shape<[M]>>) -> tensor<1x?xi64>
  %s = graph.compute ins(%b : tensor<1x?xi64>) -> tensor<i64> {
    iterators = #graph.iterators<[reduce, reduce]>, combiners = #graph.combiners<[add]>,
    maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>]
  } {
  ^bb0(%e: i64):
    graph.yield %e : i64
  }
  return %a, %b, %s : tensor<1x?xi64>, tensor<1x?xi64>, tensor<i64>
}
