// Layer normalisation with scale and shift: two sums of a row, then a function of its elements.
#ij = affine_map<(d0, d1) -> (d0, d1)>
#i = affine_map<(d0, d1) -> (d0)>
#j = affine_map<(d0, d1) -> (d1)>
!matrix = tensor<?x?xf32, #dyn.shape<[M, N]>>
!column = tensor<?xf32, #dyn.shape<[M]>>
!row = tensor<?xf32, #dyn.shape<[N]>>
func.func @layer_norm(%x: !matrix, %scale: !row, %shift: !row) -> !matrix {
  %n = dyn.symbol "N" {range = [1, 8192]} : index
  %mean = graph.compute ins(%x : !matrix) -> !column {
    combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#ij, #i]
  } {
  ^bb0(%e: f32):
    %part = arith.constant 9.765625e-4 : f32
    %0 = arith.mulf %e, %part : f32
    graph.yield %0 : f32
  }
  %centred = graph.compute ins(%x, %mean : !matrix, !column) -> !matrix {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#ij, #i, #ij]
  } {
  ^bb0(%e: f32, %m: f32):
    %0 = arith.subf %e, %m : f32
    graph.yield %0 : f32
  }
  %variance = graph.compute ins(%centred : !matrix) -> !column {
    combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#ij, #i]
  } {
  ^bb0(%e: f32):
    %0 = arith.mulf %e, %e : f32
    graph.yield %0 : f32
  }
  %y = graph.compute ins(%centred, %variance, %scale, %shift : !matrix, !column, !row, !row) -> !matrix {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#ij, #i, #j, #j, #ij]
  } {
  ^bb0(%e: f32, %v: f32, %s: f32, %b: f32):
    %little = arith.constant 1.0e-5 : f32
    %0 = arith.addf %v, %little : f32
    %1 = math.rsqrt %0 : f32
    %2 = arith.mulf %e, %1 : f32
    %3 = arith.mulf %2, %s : f32
    %4 = arith.addf %3, %b : f32
    graph.yield %4 : f32
  }
  return %y : !matrix
}
