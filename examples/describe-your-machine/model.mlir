// A product of bytes, and a number for each column behind it.

#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>

func.func @main(%x: tensor<?x17xi8, #dyn.shape<[M, 17]>> {graph.name = "x"}, %w: tensor<17x50xi8> {graph.name = "w"}, %b: tensor<50xi32> {graph.name = "b"})
    -> (tensor<?x50xi32, #dyn.shape<[M, 50]>> {graph.name = "y"}) {
  %M = dyn.symbol "M" {range = [0, 4096]} : index
  %p = graph.compute ins(%x, %w : tensor<?x17xi8, #dyn.shape<[M, 17]>>, tensor<17x50xi8>) -> tensor<?x50xi32, #dyn.shape<[M, 50]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
  ^bb0(%a: i8, %c: i8):
    %0 = arith.extsi %a : i8 to i32
    %1 = arith.extsi %c : i8 to i32
    %2 = arith.muli %0, %1 : i32
    graph.yield %2 : i32
  }
  %y = graph.compute ins(%p, %b : tensor<?x50xi32, #dyn.shape<[M, 50]>>, tensor<50xi32>) -> tensor<?x50xi32, #dyn.shape<[M, 50]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#row, #col, #row]} {
  ^bb0(%a: i32, %c: i32):
    %0 = arith.addi %a, %c : i32
    graph.yield %0 : i32
  }
  return %y : tensor<?x50xi32, #dyn.shape<[M, 50]>>
}
