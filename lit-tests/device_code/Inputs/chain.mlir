// tanh(x * y + b), where b is one row: nothing is combined.
#ij = affine_map<(d0, d1) -> (d0, d1)>
#j = affine_map<(d0, d1) -> (d1)>
!matrix = tensor<?x?xf32, #dyn.shape<[M, N]>>
!row = tensor<?xf32, #dyn.shape<[N]>>
func.func @chain(%x: !matrix, %y: !matrix, %b: !row) -> !matrix {
  %p = graph.compute ins(%x, %y : !matrix, !matrix) -> !matrix {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#ij, #ij, #ij]
  } {
  ^bb0(%0: f32, %1: f32):
    %2 = arith.mulf %0, %1 : f32
    graph.yield %2 : f32
  }
  %r = graph.compute ins(%p, %b : !matrix, !row) -> !matrix {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#ij, #j, #ij]
  } {
  ^bb0(%0: f32, %1: f32):
    %2 = arith.addf %0, %1 : f32
    %3 = math.tanh %2 : f32
    graph.yield %3 : f32
  }
  return %r : !matrix
}
