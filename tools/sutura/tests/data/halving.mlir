// 1,000 rounds over a tensor of 1 MB.
func.func @main(%x: tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
  %from = arith.constant 0 : index
  %to = arith.constant 1000 : index
  %by = arith.constant 1 : index
  %r = scf.for %i = %from to %to step %by iter_args(%a = %x) -> (tensor<?xf32, #dyn.shape<[N]>>) {
    %next = graph.compute ins(%a : tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
      iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
    } {
    ^bb0(%p: f32):
      %half = arith.constant 0.5 : f32
      %one = arith.constant 1.0 : f32
      %0 = arith.mulf %p, %half : f32
      %1 = arith.addf %0, %one : f32
      graph.yield %1 : f32
    }
    scf.yield %next : tensor<?xf32, #dyn.shape<[N]>>
  }
  return %r : tensor<?xf32, #dyn.shape<[N]>>
}
