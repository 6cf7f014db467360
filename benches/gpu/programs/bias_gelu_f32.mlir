// A bias added to the columns of a matrix, then GELU with the error function, in f32.
#ij = affine_map<(d0, d1) -> (d0, d1)>
#j = affine_map<(d0, d1) -> (d1)>
!matrix = tensor<?x?xf32, #dyn.shape<[rows, cols]>>
!row = tensor<?xf32, #dyn.shape<[cols]>>
func.func @bias_gelu_f32(%x: !matrix, %bias: !row) -> !matrix {
  %rows = dyn.symbol "rows" {range = [0, 16777216]} : index
  %cols = dyn.symbol "cols" {range = [1, 1048576]} : index
  %y = graph.compute ins(%x, %bias : !matrix, !row) -> !matrix {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#ij, #j, #ij]
  } {
  ^bb0(%x_e: f32, %bias_e: f32):
    %one = arith.constant 1.0 : f32
    %half = arith.constant 0.5 : f32
    %inv = arith.constant 0.707106769 : f32
    %b = arith.addf %x_e, %bias_e : f32
    %t = arith.mulf %b, %inv : f32
    %erf = math.erf %t : f32
    %u = arith.addf %erf, %one : f32
    %h = arith.mulf %b, %half : f32
    %g = arith.mulf %h, %u : f32
    graph.yield %g : f32
  }
  return %y : !matrix
}
