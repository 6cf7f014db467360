// Layer normalisation of the rows of a matrix with scale and shift, in f32.
#ij = affine_map<(d0, d1) -> (d0, d1)>
#id = affine_map<(d0) -> (d0)>
#i = affine_map<(d0, d1) -> (d0)>
#j = affine_map<(d0, d1) -> (d1)>
!matrix = tensor<?x?xf32, #dyn.shape<[rows, cols]>>
!column = tensor<?xf32, #dyn.shape<[rows]>>
!row = tensor<?xf32, #dyn.shape<[cols]>>
func.func @layer_norm_f32(%x: !matrix, %gamma: !row, %beta: !row) -> !matrix {
  %rows = dyn.symbol "rows" {range = [0, 16777216]} : index
  %cols = dyn.symbol "cols" {range = [1, 1048576]} : index
  %total = graph.compute ins(%x : !matrix) -> !column {
    combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#ij, #i]
  } {
  ^bb0(%x_e: f32):
    graph.yield %x_e : f32
  }
  %mean = graph.compute ins(%total : !column) -> !column {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%total_e: f32):
    %count = graph.size [cols] : index
    %whole = arith.index_cast %count : index to i32
    %n = arith.sitofp %whole : i32 to f32
    %q = arith.divf %total_e, %n : f32
    graph.yield %q : f32
  }
  %centred = graph.compute ins(%x, %mean : !matrix, !column) -> !matrix {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#ij, #i, #ij]
  } {
  ^bb0(%x_e: f32, %mean_e: f32):
    %d = arith.subf %x_e, %mean_e : f32
    graph.yield %d : f32
  }
  %squares = graph.compute ins(%centred : !matrix) -> !column {
    combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#ij, #i]
  } {
  ^bb0(%centred_e: f32):
    %s = arith.mulf %centred_e, %centred_e : f32
    graph.yield %s : f32
  }
  %inverse = graph.compute ins(%squares : !column) -> !column {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%squares_e: f32):
    %count = graph.size [cols] : index
    %whole = arith.index_cast %count : index to i32
    %n = arith.sitofp %whole : i32 to f32
    %eps = arith.constant 1.0e-5 : f32
    %v = arith.divf %squares_e, %n : f32
    %w = arith.addf %v, %eps : f32
    %r = math.rsqrt %w : f32
    graph.yield %r : f32
  }
  %y = graph.compute ins(%centred, %inverse, %gamma, %beta : !matrix, !column, !row, !row) -> !matrix {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#ij, #i, #j, #j, #ij]
  } {
  ^bb0(%centred_e: f32, %inverse_e: f32, %gamma_e: f32, %beta_e: f32):
    %z = arith.mulf %centred_e, %inverse_e : f32
    %g = arith.mulf %z, %gamma_e : f32
    %b = arith.addf %g, %beta_e : f32
    graph.yield %b : f32
  }
  return %y : !matrix
}
