// Reads at places that depend on sizes or on data: a cache to which rows are appended, what of it is new, its columns backwards,
// its last row of each batch, and single elements of it by index; and lists of integers joined.
!past = tensor<?x?x?xf32, #dyn.shape<[B, P, D]>>
!new = tensor<?x?x?xf32, #dyn.shape<[B, S, D]>>
!cache = tensor<?x?x?xf32, #dyn.shape<[B, P + S, D]>>
!last = tensor<?x1x?xf32, #dyn.shape<[B, 1, D]>>
!places = tensor<?x3xi64, #dyn.shape<[K, 3]>>
#three = affine_map<(i, j, k) -> (i, j, k)>
func.func @places(%past: !past, %new: !new, %at: !places)
    -> (!cache, !new, !cache, !last, tensor<?xf32, #dyn.shape<[K]>>, tensor<?xi64>) {
  %B = dyn.symbol "B" : index
  %P = dyn.symbol "P" : index
  %S = dyn.symbol "S" {range = [1, 100000]} : index
  %D = dyn.symbol "D" : index
  %K = dyn.symbol "K" : index
  %negated = graph.compute ins(%new : !new) -> !new {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#three, #three]} {
  ^bb0(%a: f32):
    %0 = arith.negf %a : f32
    graph.yield %0 : f32
  }
  %cache = graph.concat %past, %negated {axis = 1 : i64} : !past, !new -> !cache
  %shape = graph.shape_of %past : !past -> tensor<3xi64>
  %start = graph.slice %shape {axes = array<i64: 0>, ends = array<i64: 2>, starts = array<i64: 1>, steps = array<i64: 1>} : tensor<3xi64> -> tensor<1xi64>
  %end = graph.constant dense<[9223372036854775807]> : tensor<1xi64>
  %behind = graph.slice %cache[%start, %end] {axes = array<i64: 1>, steps = array<i64: 1>} : !cache, tensor<1xi64>, tensor<1xi64> -> !new
  %back = graph.slice %cache {axes = array<i64: 2>, ends = array<i64: -9223372036854775807>, starts = array<i64: -1>, steps = array<i64: -1>} : !cache -> !cache
  %last = graph.slice %cache {axes = array<i64: 1>, ends = array<i64: 9223372036854775807>, starts = array<i64: -1>, steps = array<i64: 1>} : !cache -> !last
  %picked = graph.gather_nd %cache, %at : !cache, !places -> tensor<?xf32, #dyn.shape<[K]>> loc("marks")
  %flat = graph.reshape %at : !places -> tensor<?xi64, #dyn.shape<[3*K]>>
  %two = graph.constant dense<[7, 8]> : tensor<2xi64>
  %joined = graph.concat %flat, %two {axis = 0 : i64} : tensor<?xi64, #dyn.shape<[3*K]>>, tensor<2xi64> -> tensor<?xi64>
  return %cache, %behind, %back, %last, %picked, %joined : !cache, !new, !cache, !last, tensor<?xf32, #dyn.shape<[K]>>, tensor<?xi64>
}
