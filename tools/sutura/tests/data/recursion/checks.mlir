// A list that gets longer by the other one in each call, until data end it; a call takes at most 8 numbers, and as many in both lists.
func.func private @longer(%x: tensor<?xf32, #dyn.shape<[N]>>, %w: tensor<?xf32, #dyn.shape<[N]>>, %more: tensor<?xf32, #dyn.shape<[P]>>, %n: tensor<i64>) -> tensor<f32> {
  %N = dyn.symbol "N" {range = [0, 8]} : index
  %i = tensor.extract %n[] : tensor<i64>
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %c = arith.cmpi sgt, %i, %zero : i64
  %y = scf.if %c -> (tensor<f32>) {
    %j = arith.subi %i, %one : i64
    %m = tensor.from_elements %j : tensor<i64>
    %l = graph.concat %x, %more {axis = 0} : tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[P]>> -> tensor<?xf32, #dyn.shape<[N + P]>>
    %r = func.call @longer(%l, %l, %more, %m) : (tensor<?xf32, #dyn.shape<[N + P]>>, tensor<?xf32, #dyn.shape<[N + P]>>, tensor<?xf32, #dyn.shape<[P]>>, tensor<i64>) -> tensor<f32>
    scf.yield %r : tensor<f32>
  } else {
    %s = graph.compute ins(%x, %w : tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>) -> tensor<f32> {
      iterators = #graph.iterators<[reduce]>, combiners = #graph.combiners<[add]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>]
    } {
    ^bb0(%p: f32, %q: f32):
      %0 = arith.mulf %p, %q : f32
      graph.yield %0 : f32
    }
    scf.yield %s : tensor<f32>
  }
  return %y : tensor<f32>
}
func.func @main(%x: tensor<?xf32, #dyn.shape<[A]>>, %w: tensor<?xf32, #dyn.shape<[A]>>, %more: tensor<?xf32, #dyn.shape<[P]>>, %n: tensor<i64>) -> tensor<f32> {
  %r = func.call @longer(%x, %w, %more, %n) : (tensor<?xf32, #dyn.shape<[A]>>, tensor<?xf32, #dyn.shape<[A]>>, tensor<?xf32, #dyn.shape<[P]>>, tensor<i64>) -> tensor<f32>
  return %r : tensor<f32>
}
