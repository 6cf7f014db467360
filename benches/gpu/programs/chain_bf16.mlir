// A chain as in attention: scaled, masked, softmax over the rows, the residual added, stored as bf16, computed as f32.
#ij = affine_map<(d0, d1) -> (d0, d1)>
#i = affine_map<(d0, d1) -> (d0)>
#j = affine_map<(d0, d1) -> (d1)>
!matrix = tensor<?x?xbf16, #dyn.shape<[rows, cols]>>
!wide = tensor<?x?xf32, #dyn.shape<[rows, cols]>>
!column = tensor<?xf32, #dyn.shape<[rows]>>
!row = tensor<?xbf16, #dyn.shape<[cols]>>
func.func @chain_bf16(%x: !matrix, %mask: !row, %residual: !matrix) -> !matrix {
  %rows = dyn.symbol "rows" {range = [0, 16777216]} : index
  %cols = dyn.symbol "cols" {range = [1, 1048576]} : index
  %masked = graph.compute ins(%x, %mask : !matrix, !row) -> !wide {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#ij, #j, #ij]
  } {
  ^bb0(%x_e: bf16, %mask_e: bf16):
    %x_f = arith.extf %x_e : bf16 to f32
    %mask_f = arith.extf %mask_e : bf16 to f32
    %scale = arith.constant 0.125 : f32
    %s = arith.mulf %x_f, %scale : f32
    %m = arith.addf %s, %mask_f : f32
    graph.yield %m : f32
  }
  %max = graph.compute ins(%masked : !wide) -> !column {
    combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#ij, #i]
  } {
  ^bb0(%masked_e: f32):
    graph.yield %masked_e : f32
  }
  %exp = graph.compute ins(%masked, %max : !wide, !column) -> !wide {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#ij, #i, #ij]
  } {
  ^bb0(%masked_e: f32, %max_e: f32):
    %d = arith.subf %masked_e, %max_e : f32
    %p = math.exp %d : f32
    graph.yield %p : f32
  }
  %sum = graph.compute ins(%exp : !wide) -> !column {
    combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#ij, #i]
  } {
  ^bb0(%exp_e: f32):
    graph.yield %exp_e : f32
  }
  %y = graph.compute ins(%exp, %sum, %residual : !wide, !column, !matrix) -> !matrix {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#ij, #i, #ij, #ij]
  } {
  ^bb0(%exp_e: f32, %sum_e: f32, %residual_e: bf16):
    %residual_f = arith.extf %residual_e : bf16 to f32
    %q = arith.divf %exp_e, %sum_e : f32
    %r = arith.addf %q, %residual_f : f32
    %rounded = arith.truncf %r : f32 to bf16
    graph.yield %rounded : bf16
  }
  return %y : !matrix
}
