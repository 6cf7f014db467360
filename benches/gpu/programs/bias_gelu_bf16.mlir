// A bias added to the columns of a matrix, then GELU with the error function, stored as bf16, computed as f32.
#ij = affine_map<(d0, d1) -> (d0, d1)>
#j = affine_map<(d0, d1) -> (d1)>
!matrix = tensor<?x?xbf16, #dyn.shape<[rows, cols]>>
!row = tensor<?xbf16, #dyn.shape<[cols]>>
func.func @bias_gelu_bf16(%x: !matrix, %bias: !row) -> !matrix {
  %rows = dyn.symbol "rows" {range = [0, 16777216]} : index
  %cols = dyn.symbol "cols" {range = [1, 1048576]} : index
  %y = graph.compute ins(%x, %bias : !matrix, !row) -> !matrix {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#ij, #j, #ij]
  } {
  ^bb0(%x_e: bf16, %bias_e: bf16):
    %x_f = arith.extf %x_e : bf16 to f32
    %bias_f = arith.extf %bias_e : bf16 to f32
    %one = arith.constant 1.0 : f32
    %half = arith.constant 0.5 : f32
    %inv = arith.constant 0.707106769 : f32
    %b = arith.addf %x_f, %bias_f : f32
    %t = arith.mulf %b, %inv : f32
    %erf = math.erf %t : f32
    %u = arith.addf %erf, %one : f32
    %h = arith.mulf %b, %half : f32
    %g = arith.mulf %h, %u : f32
    %rounded = arith.truncf %g : f32 to bf16
    graph.yield %rounded : bf16
  }
  return %y : !matrix
}
