// Numbers that data tell as the sizes of a tensor whose elements they must count together: none of them is the quotient of the others.

!list = tensor<?xf32, #dyn.shape<[N]>>
!matrix = tensor<?x?xf32, #dyn.shape<[A, B]>>
!P = tensor<?x0xi1, #dyn.shape<[P, 0]>>
!Q = tensor<?x0xi1, #dyn.shape<[Q, 0]>>

func.func @main(%x: !list {graph.name = "x"}, %a: tensor<i64> {graph.name = "a"}, %b: tensor<i64> {graph.name = "b"},
    %p: !P {graph.name = "P"}, %q: !Q {graph.name = "Q"}) -> (!matrix {graph.name = "y"}) {
  %N = dyn.symbol "N" : index
  %A = dyn.symbol "A" : index
  %B = dyn.symbol "B" : index
  dyn.equal [A*B], [N] {source = "numbers of elements"}
  %rows = graph.decide_size %a, %p : tensor<i64>, !P -> tensor<?x0xi1, #dyn.shape<[A, 0]>>
  %columns = graph.decide_size %b, %q : tensor<i64>, !Q -> tensor<?x0xi1, #dyn.shape<[B, 0]>>
  %y = graph.reshape %x : !list -> !matrix
  return %y : !matrix
}
