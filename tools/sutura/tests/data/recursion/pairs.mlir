// Products of two lists of one size: in every second call the third and the fourth one, which are compared only there.
func.func private @product(%x: tensor<?xf32, #dyn.shape<[N]>>, %w: tensor<?xf32, #dyn.shape<[N]>>, %a: tensor<?xf32, #dyn.shape<[A]>>,
                           %b: tensor<?xf32, #dyn.shape<[B]>>, %n: tensor<i64>) -> tensor<f32> {
  %i = tensor.extract %n[] : tensor<i64>
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %c = arith.cmpi sgt, %i, %zero : i64
  %s = graph.compute ins(%x, %w : tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>) -> tensor<f32> {
    iterators = #graph.iterators<[reduce]>, combiners = #graph.combiners<[add]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>]
  } {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.mulf %p, %q : f32
    graph.yield %0 : f32
  }
  %y = scf.if %c -> (tensor<f32>) {
    %j = arith.subi %i, %one : i64
    %m = tensor.from_elements %j : tensor<i64>
    %r = func.call @product(%a, %b, %x, %w, %m) : (tensor<?xf32, #dyn.shape<[A]>>, tensor<?xf32, #dyn.shape<[B]>>, tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>, tensor<i64>) -> tensor<f32>
    %u = graph.compute ins(%r, %s : tensor<f32>, tensor<f32>) -> tensor<f32> {
      iterators = #graph.iterators<[]>, maps = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>]
    } {
    ^bb0(%p: f32, %q: f32):
      %0 = arith.addf %p, %q : f32
      graph.yield %0 : f32
    }
    scf.yield %u : tensor<f32>
  } else {
    scf.yield %s : tensor<f32>
  }
  return %y : tensor<f32>
}
func.func @main(%x: tensor<?xf32, #dyn.shape<[N]>>, %a: tensor<?xf32, #dyn.shape<[A]>>,
                %b: tensor<?xf32, #dyn.shape<[B]>>, %n: tensor<i64>) -> tensor<f32> {
  %r = func.call @product(%x, %x, %a, %b, %n) : (tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[A]>>, tensor<?xf32, #dyn.shape<[B]>>, tensor<i64>) -> tensor<f32>
  return %r : tensor<f32>
}
