// Quotients and remainders of integers: machines stop at a division by zero, also in lanes behind the last element.
func.func @divide(%x: tensor<?xi32, #dyn.shape<[N]>>, %y: tensor<?xi32, #dyn.shape<[N]>>)
    -> tensor<?xi32, #dyn.shape<[N]>> {
  %N = dyn.symbol "N" : index
  %r = graph.compute ins(%x, %y : tensor<?xi32, #dyn.shape<[N]>>, tensor<?xi32, #dyn.shape<[N]>>)
    -> tensor<?xi32, #dyn.shape<[N]>> {
    iterators = #graph.iterators<[parallel]>, maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>]
  } {
  ^bb0(%a: i32, %b: i32):
    %q = arith.divsi %a, %b : i32
    %m = arith.remsi %a, %b : i32
    %0 = arith.addi %q, %m : i32
    graph.yield %0 : i32
  }
  return %r : tensor<?xi32, #dyn.shape<[N]>>
}
