// A chain as in attention: scaled, masked, softmax over the rows, the residual added, in f32.
#ij = affine_map<(d0, d1) -> (d0, d1)>
#i = affine_map<(d0, d1) -> (d0)>
#j = affine_map<(d0, d1) -> (d1)>
!matrix = tensor<?x?xf32, #dyn.shape<[rows, cols]>>
!column = tensor<?xf32, #dyn.shape<[rows]>>
!row = tensor<?xf32, #dyn.shape<[cols]>>
func.func @chain_f32(%x: !matrix, %mask: !row, %residual: !matrix) -> !matrix {
  %rows = dyn.symbol "rows" {range = [0, 16777216]} : index
  %cols = dyn.symbol "cols" {range = [1, 1048576]} : index
  %masked = graph.compute ins(%x, %mask : !matrix, !row) -> !matrix {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#ij, #j, #ij]
  } {
  ^bb0(%x_e: f32, %mask_e: f32):
    %scale = arith.constant 0.125 : f32
    %s = arith.mulf %x_e, %scale : f32
    %m = arith.addf %s, %mask_e : f32
    graph.yield %m : f32
  }
  %max = graph.compute ins(%masked : !matrix) -> !column {
    combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#ij, #i]
  } {
  ^bb0(%masked_e: f32):
    graph.yield %masked_e : f32
  }
  %exp = graph.compute ins(%masked, %max : !matrix, !column) -> !matrix {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#ij, #i, #ij]
  } {
  ^bb0(%masked_e: f32, %max_e: f32):
    %d = arith.subf %masked_e, %max_e : f32
    %p = math.exp %d : f32
    graph.yield %p : f32
  }
  %sum = graph.compute ins(%exp : !matrix) -> !column {
    combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#ij, #i]
  } {
  ^bb0(%exp_e: f32):
    graph.yield %exp_e : f32
  }
  %y = graph.compute ins(%exp, %sum, %residual : !matrix, !column, !matrix) -> !matrix {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#ij, #i, #ij, #ij]
  } {
  ^bb0(%exp_e: f32, %sum_e: f32, %residual_e: f32):
    %q = arith.divf %exp_e, %sum_e : f32
    %r = arith.addf %q, %residual_e : f32
    graph.yield %r : f32
  }
  return %y : !matrix
}
