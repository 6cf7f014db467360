// Powers of numbers by a function that multiplies what it makes of one less.
func.func @main(%x: tensor<?xf32, #dyn.shape<[N]>>, %n: tensor<i64>) -> tensor<?xf32, #dyn.shape<[N]>> {
  %y = call @power(%x, %n) : (tensor<?xf32, #dyn.shape<[N]>>, tensor<i64>) -> tensor<?xf32, #dyn.shape<[N]>>
  return %y : tensor<?xf32, #dyn.shape<[N]>>
}
func.func private @power(%x: tensor<?xf32, #dyn.shape<[K]>>, %n: tensor<i64>) -> tensor<?xf32, #dyn.shape<[K]>> {
  %i = tensor.extract %n[] : tensor<i64>
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %c = arith.cmpi sgt, %i, %zero : i64
  %y = scf.if %c -> (tensor<?xf32, #dyn.shape<[K]>>) {
    %j = arith.subi %i, %one : i64
    %m = tensor.from_elements %j : tensor<i64>
    %p = func.call @power(%x, %m) : (tensor<?xf32, #dyn.shape<[K]>>, tensor<i64>) -> tensor<?xf32, #dyn.shape<[K]>>
    %s = graph.compute ins(%p, %x : tensor<?xf32, #dyn.shape<[K]>>, tensor<?xf32, #dyn.shape<[K]>>) -> tensor<?xf32, #dyn.shape<[K]>> {
      iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
    } {
    ^bb0(%a: f32, %b: f32):
      %0 = arith.mulf %a, %b : f32
      graph.yield %0 : f32
    }
    scf.yield %s : tensor<?xf32, #dyn.shape<[K]>>
  } else {
    %s = graph.compute ins(%x : tensor<?xf32, #dyn.shape<[K]>>) -> tensor<?xf32, #dyn.shape<[K]>> {
      iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
    } {
    ^bb0(%a: f32):
      %1 = arith.constant 1.0 : f32
      graph.yield %1 : f32
    }
    scf.yield %s : tensor<?xf32, #dyn.shape<[K]>>
  }
  return %y : tensor<?xf32, #dyn.shape<[K]>>
}
