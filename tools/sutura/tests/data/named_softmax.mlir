// A softmax that a program declares and applies by name.
#ij = affine_map<(d0, d1) -> (d0, d1)>
#i = affine_map<(d0, d1) -> (d0)>
!on = tensor<?x?xf32, #dyn.shape<[O, N]>>
!o = tensor<?xf32, #dyn.shape<[O]>>
func.func @main(%x: tensor<?x3x?xf32, #dyn.shape<[rows, 3, cols]>>) -> tensor<?x3x?xf32, #dyn.shape<[rows, 3, cols]>> {
  %y = graph.apply @my_softmax(%x) {axis = 2 : i64} : (tensor<?x3x?xf32, #dyn.shape<[rows, 3, cols]>>) -> tensor<?x3x?xf32, #dyn.shape<[rows, 3, cols]>> loc("/layer/Softmax")
  return %y : tensor<?x3x?xf32, #dyn.shape<[rows, 3, cols]>>
}
graph.operator @my_softmax {summary = "softmax", elements = [f32], groups = {O = "before axis", N}, attributes = {axis = i64}} {
^bb0(%x: !on):
  %max = graph.compute ins(%x : !on) -> !o {combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#ij, #i]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  %exp = graph.compute ins(%x, %max : !on, !o) -> !on {iterators = #graph.iterators<[parallel, parallel]>, maps = [#ij, #i, #ij]} {
  ^bb0(%e: f32, %m: f32):
    %d = arith.subf %e, %m : f32
    %p = math.exp %d : f32
    graph.yield %p : f32
  }
  %sum = graph.compute ins(%exp : !on) -> !o {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#ij, #i]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  %y = graph.compute ins(%exp, %sum : !on, !o) -> !on {iterators = #graph.iterators<[parallel, parallel]>, maps = [#ij, #i, #ij]} {
  ^bb0(%e: f32, %s: f32):
    %q = arith.divf %e, %s : f32
    graph.yield %q : f32
  }
  graph.yield %y : !on
}
