// What is above a limit is summed, again and again of what is left: sizes that data decide in a function that calls itself.
func.func private @left(%x: tensor<?xf32, #dyn.shape<[N]>>, %n: tensor<i64>) -> tensor<f32> {
  %i = tensor.extract %n[] : tensor<i64>
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %half = graph.constant dense<0.5> : tensor<f32>
  %low = graph.compute ins(%x, %half : tensor<?xf32, #dyn.shape<[N]>>, tensor<f32>) -> tensor<?xf32, #dyn.shape<[N]>> {
    iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>]
  } {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    %z = arith.constant 0.0 : f32
    %1 = arith.maximumf %0, %z : f32
    graph.yield %1 : f32
  }
  %p = graph.non_zero %low : tensor<?xf32, #dyn.shape<[N]>> -> tensor<1x?xi64, #dyn.shape<[1, K]>>
  %t = graph.compute ins(%p : tensor<1x?xi64, #dyn.shape<[1, K]>>) -> tensor<?x1xi64, #dyn.shape<[K, 1]>>
      {iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>]} {
  ^bb0(%a: i64):
    graph.yield %a : i64
  }
  %v = graph.gather_nd %low, %t : tensor<?xf32, #dyn.shape<[N]>>, tensor<?x1xi64, #dyn.shape<[K, 1]>> -> tensor<?xf32, #dyn.shape<[K]>>
  %s = graph.compute ins(%v : tensor<?xf32, #dyn.shape<[K]>>) -> tensor<f32> {
    iterators = #graph.iterators<[reduce]>, combiners = #graph.combiners<[add]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>]
  } {
  ^bb0(%q: f32):
    graph.yield %q : f32
  }
  %c = arith.cmpi sgt, %i, %zero : i64
  %y = scf.if %c -> (tensor<f32>) {
    %j = arith.subi %i, %one : i64
    %m = tensor.from_elements %j : tensor<i64>
    %r = func.call @left(%v, %m) : (tensor<?xf32, #dyn.shape<[K]>>, tensor<i64>) -> tensor<f32>
    %u = graph.compute ins(%r, %s : tensor<f32>, tensor<f32>) -> tensor<f32> {
      iterators = #graph.iterators<[]>, maps = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>]
    } {
    ^bb0(%a: f32, %b: f32):
      %0 = arith.addf %a, %b : f32
      graph.yield %0 : f32
    }
    scf.yield %u : tensor<f32>
  } else {
    scf.yield %s : tensor<f32>
  }
  return %y : tensor<f32>
}
func.func @main(%x: tensor<?xf32, #dyn.shape<[M]>>, %n: tensor<i64>) -> tensor<f32> {
  %r = func.call @left(%x, %n) : (tensor<?xf32, #dyn.shape<[M]>>, tensor<i64>) -> tensor<f32>
  return %r : tensor<f32>
}
