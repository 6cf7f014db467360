// Two functions that call each other: the one multiplies by weights, the other adds a row before that and takes it away behind it.
func.func private @even(%x: tensor<?x3xf32, #dyn.shape<[R, 3]>>, %n: tensor<i32>) -> tensor<?x3xf32, #dyn.shape<[R, 3]>> {
  %w = graph.constant dense<[[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [1.0, 0.0, 2.0]]> : tensor<3x3xf32>
  %z = graph.compute ins(%x, %w : tensor<?x3xf32, #dyn.shape<[R, 3]>>, tensor<3x3xf32>) -> tensor<?x3xf32, #dyn.shape<[R, 3]>> {
    iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>,
    maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>]
  } {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %b : f32
    graph.yield %0 : f32
  }
  %i = tensor.extract %n[] : tensor<i32>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %go = arith.cmpi sgt, %i, %zero : i32
  %y = scf.if %go -> (tensor<?x3xf32, #dyn.shape<[R, 3]>>) {
    %j = arith.subi %i, %one : i32
    %m = tensor.from_elements %j : tensor<i32>
    %r = func.call @odd(%z, %m) : (tensor<?x3xf32, #dyn.shape<[R, 3]>>, tensor<i32>) -> tensor<?x3xf32, #dyn.shape<[R, 3]>>
    scf.yield %r : tensor<?x3xf32, #dyn.shape<[R, 3]>>
  } else {
    scf.yield %z : tensor<?x3xf32, #dyn.shape<[R, 3]>>
  }
  return %y : tensor<?x3xf32, #dyn.shape<[R, 3]>>
}

func.func private @odd(%x: tensor<?x3xf32, #dyn.shape<[S, 3]>>, %n: tensor<i32>) -> tensor<?x3xf32, #dyn.shape<[S, 3]>> {
  %row = graph.constant dense<[[1.0, 2.0, 3.0]]> : tensor<1x3xf32>
  %i = tensor.extract %n[] : tensor<i32>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %go = arith.cmpi sgt, %i, %zero : i32
  %y = scf.if %go -> (tensor<?x3xf32, #dyn.shape<[S, 3]>>) {
    %j = arith.subi %i, %one : i32
    %m = tensor.from_elements %j : tensor<i32>
    %longer = graph.concat %row, %x {axis = 0} : tensor<1x3xf32>, tensor<?x3xf32, #dyn.shape<[S, 3]>> -> tensor<?x3xf32, #dyn.shape<[S + 1, 3]>>
    %r = func.call @even(%longer, %m) : (tensor<?x3xf32, #dyn.shape<[S + 1, 3]>>, tensor<i32>) -> tensor<?x3xf32, #dyn.shape<[S + 1, 3]>>
    %s = graph.slice %r {axes = array<i64: 0>, starts = array<i64: 1>, ends = array<i64: 9223372036854775807>, steps = array<i64: 1>}
        : tensor<?x3xf32, #dyn.shape<[S + 1, 3]>> -> tensor<?x3xf32, #dyn.shape<[S, 3]>>
    scf.yield %s : tensor<?x3xf32, #dyn.shape<[S, 3]>>
  } else {
    scf.yield %x : tensor<?x3xf32, #dyn.shape<[S, 3]>>
  }
  return %y : tensor<?x3xf32, #dyn.shape<[S, 3]>>
}

func.func @main(%x: tensor<?x3xf32, #dyn.shape<[M, 3]>>, %n: tensor<i32>) -> (tensor<?x3xf32, #dyn.shape<[M, 3]>>, tensor<?x3xf32, #dyn.shape<[M, 3]>>) {
  %a = call @even(%x, %n) : (tensor<?x3xf32, #dyn.shape<[M, 3]>>, tensor<i32>) -> tensor<?x3xf32, #dyn.shape<[M, 3]>>
  %b = call @odd(%x, %n) : (tensor<?x3xf32, #dyn.shape<[M, 3]>>, tensor<i32>) -> tensor<?x3xf32, #dyn.shape<[M, 3]>>
  return %a, %b : tensor<?x3xf32, #dyn.shape<[M, 3]>>, tensor<?x3xf32, #dyn.shape<[M, 3]>>
}
