// Softmax over the rows of a matrix, in f32.
#ij = affine_map<(d0, d1) -> (d0, d1)>
#i = affine_map<(d0, d1) -> (d0)>
!matrix = tensor<?x?xf32, #dyn.shape<[rows, cols]>>
!column = tensor<?xf32, #dyn.shape<[rows]>>
func.func @softmax_f32(%x: !matrix) -> !matrix {
  %rows = dyn.symbol "rows" {range = [0, 16777216]} : index
  %cols = dyn.symbol "cols" {range = [1, 1048576]} : index
  %max = graph.compute ins(%x : !matrix) -> !column {
    combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#ij, #i]
  } {
  ^bb0(%x_e: f32):
    graph.yield %x_e : f32
  }
  %exp = graph.compute ins(%x, %max : !matrix, !column) -> !matrix {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#ij, #i, #ij]
  } {
  ^bb0(%x_e: f32, %max_e: f32):
    %d = arith.subf %x_e, %max_e : f32
    %p = math.exp %d : f32
    graph.yield %p : f32
  }
  %sum = graph.compute ins(%exp : !matrix) -> !column {
    combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#ij, #i]
  } {
  ^bb0(%exp_e: f32):
    graph.yield %exp_e : f32
  }
  %y = graph.compute ins(%exp, %sum : !matrix, !column) -> !matrix {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#ij, #i, #ij]
  } {
  ^bb0(%exp_e: f32, %sum_e: f32):
    %q = arith.divf %exp_e, %sum_e : f32
    graph.yield %q : f32
  }
  return %y : !matrix
}
