// As many numbers must not be zero as a second input has: what data decide is compared with what is known.
func.func @main(%x: tensor<?xf32, #dyn.shape<[N]>>, %w: tensor<?xi64, #dyn.shape<[W]>>) -> tensor<?xi64, #dyn.shape<[W]>> {
  %p = graph.non_zero %x {looks_for = "numbers that count"} : tensor<?xf32, #dyn.shape<[N]>> -> tensor<1x?xi64> loc("found")
  %f = graph.reshape %p : tensor<1x?xi64> -> tensor<?xi64>
  %y = graph.compute ins(%f, %w : tensor<?xi64>, tensor<?xi64, #dyn.shape<[W]>>) -> tensor<?xi64, #dyn.shape<[W]>>
      {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
  ^bb0(%a: i64, %b: i64):
    %c = arith.addi %a, %b : i64
    graph.yield %c : i64
  }
  return %y : tensor<?xi64, #dyn.shape<[W]>>
}
