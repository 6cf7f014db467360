// The negative of one of two inputs, of sizes of their own.
func.func @main(%c: tensor<i1>, %x: tensor<?xf32, #dyn.shape<[N]>>, %w: tensor<?xf32, #dyn.shape<[W]>>) -> tensor<?xf32> {
  %f = tensor.extract %c[] : tensor<i1>
  %one = scf.if %f -> (tensor<?xf32>) {
    %a = tensor.cast %x : tensor<?xf32, #dyn.shape<[N]>> to tensor<?xf32>
    scf.yield %a : tensor<?xf32>
  } else {
    %a = tensor.cast %w : tensor<?xf32, #dyn.shape<[W]>> to tensor<?xf32>
    scf.yield %a : tensor<?xf32>
  }
  %y = graph.compute ins(%one : tensor<?xf32>) -> tensor<?xf32> {
    iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
  } {
  ^bb0(%e: f32):
    %0 = arith.negf %e : f32
    graph.yield %0 : f32
  }
  return %y : tensor<?xf32>
}
