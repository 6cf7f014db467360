// A softmax over the rows of a matrix whose sizes are both unknown, as tensor operators.
#ij = affine_map<(d0, d1) -> (d0, d1)>
#i = affine_map<(d0, d1) -> (d0)>
func.func @softmax(%x: tensor<?x?xf32, #dyn.shape<[rows, cols]>>) -> tensor<?x?xf32, #dyn.shape<[rows, cols]>> {
  %rows = dyn.symbol "rows" {range = [0, 1000000]} : index
  %cols = dyn.symbol "cols" {range = [1, 1000000]} : index
  %max = graph.compute ins(%x : tensor<?x?xf32, #dyn.shape<[rows, cols]>>) -> tensor<?xf32, #dyn.shape<[rows]>> {
    combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#ij, #i]
  } {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  %exp = graph.compute ins(%x, %max : tensor<?x?xf32, #dyn.shape<[rows, cols]>>, tensor<?xf32, #dyn.shape<[rows]>>)
      -> tensor<?x?xf32, #dyn.shape<[rows, cols]>> {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#ij, #i, #ij]
  } {
  ^bb0(%e: f32, %m: f32):
    %d = arith.subf %e, %m : f32
    %p = math.exp %d : f32
    graph.yield %p : f32
  }
  %sum = graph.compute ins(%exp : tensor<?x?xf32, #dyn.shape<[rows, cols]>>) -> tensor<?xf32, #dyn.shape<[rows]>> {
    combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#ij, #i]
  } {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  %y = graph.compute ins(%exp, %sum : tensor<?x?xf32, #dyn.shape<[rows, cols]>>, tensor<?xf32, #dyn.shape<[rows]>>)
      -> tensor<?x?xf32, #dyn.shape<[rows, cols]>> {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#ij, #i, #ij]
  } {
  ^bb0(%e: f32, %s: f32):
    %q = arith.divf %e, %s : f32
    graph.yield %q : f32
  }
  return %y : tensor<?x?xf32, #dyn.shape<[rows, cols]>>
}
