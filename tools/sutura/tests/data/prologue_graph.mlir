// A product whose left factor is made of whole rows (differences to a row's largest element, through an exponential) and
// whose right factor is scaled by a number per column: one kernel that packs, one that multiplies.
#ij = affine_map<(d0, d1) -> (d0, d1)>
#i = affine_map<(d0, d1) -> (d0)>
#j = affine_map<(d0, d1) -> (d1)>
#lhs = affine_map<(d0, d1, d2) -> (d0, d2)>
#rhs = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
!x = tensor<?x72xf32, #dyn.shape<[rows, 72]>>
!w = tensor<72x40xf32>
!y = tensor<?x40xf32, #dyn.shape<[rows, 40]>>
func.func @product(%x: !x, %v: !w, %scale: tensor<40xf32>) -> !y {
  %rows = dyn.symbol "rows" {range = [0, 1000000], likely = [4096]} : index
  %max = graph.compute ins(%x : !x) -> tensor<?xf32, #dyn.shape<[rows]>> {
    combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#ij, #i]
  } {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  %exp = graph.compute ins(%x, %max : !x, tensor<?xf32, #dyn.shape<[rows]>>) -> !x {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#ij, #i, #ij]
  } {
  ^bb0(%e: f32, %m: f32):
    %d = arith.subf %e, %m : f32
    %p = math.exp %d : f32
    graph.yield %p : f32
  }
  %w = graph.compute ins(%v, %scale : !w, tensor<40xf32>) -> !w {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#ij, #j, #ij]
  } {
  ^bb0(%e: f32, %s: f32):
    %p = arith.mulf %e, %s : f32
    graph.yield %p : f32
  }
  %y = graph.compute ins(%exp, %w : !x, !w) -> !y {
    combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#lhs, #rhs, #out]
  } {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    graph.yield %p : f32
  }
  return %y : !y
}
