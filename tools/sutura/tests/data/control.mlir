// Newton's square roots until none moves, or the limit is reached; then, if asked for, a second tensor is added; at the end a
// layer that is called three times, at two sizes.

func.func private @halve(%x: tensor<?x?xf32, #dyn.shape<[R, C]>>) -> tensor<?x?xf32, #dyn.shape<[R, C]>> {
  %half = graph.constant dense<0.5> : tensor<f32>
  %y = graph.compute ins(%x, %half : tensor<?x?xf32, #dyn.shape<[R, C]>>, tensor<f32>) -> tensor<?x?xf32, #dyn.shape<[R, C]>> {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0, d1)>]
  } {
  ^bb0(%a: f32, %h: f32):
    %0 = arith.mulf %a, %h : f32
    graph.yield %0 : f32
  }
  return %y : tensor<?x?xf32, #dyn.shape<[R, C]>>
}

func.func @main(%x: tensor<?xf32, #dyn.shape<[N]>>, %limit: tensor<i64>, %add: tensor<i1>, %w: tensor<?xf32, #dyn.shape<[M]>>,
                %m: tensor<?x4xf32, #dyn.shape<[R, 4]>>)
    -> (tensor<?xf32, #dyn.shape<[N]>>, tensor<i64>, tensor<?x4xf32, #dyn.shape<[R, 4]>>, tensor<1x2xf32>) {
  %zero = graph.constant dense<0> : tensor<i64>
  %most = graph.constant dense<3.0e+38> : tensor<f32>
  %pair = graph.constant dense<[[8.0, 16.0]]> : tensor<1x2xf32>
  %count, %root, %moved = scf.while (%i = %zero, %r = %x, %d = %most) : (tensor<i64>, tensor<?xf32, #dyn.shape<[N]>>, tensor<f32>)
      -> (tensor<i64>, tensor<?xf32, #dyn.shape<[N]>>, tensor<f32>) {
    %more = graph.compute ins(%i, %limit, %d : tensor<i64>, tensor<i64>, tensor<f32>) -> tensor<i1> {
      iterators = #graph.iterators<[]>, maps = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>]
    } {
    ^bb0(%a: i64, %b: i64, %c: f32):
      %small = arith.constant 1.0e-6 : f32
      %0 = arith.cmpi slt, %a, %b : i64
      %1 = arith.cmpf ogt, %c, %small : f32
      %2 = arith.andi %0, %1 : i1
      graph.yield %2 : i1
    }
    %go = tensor.extract %more[] : tensor<i1>
    scf.condition(%go) %i, %r, %d : tensor<i64>, tensor<?xf32, #dyn.shape<[N]>>, tensor<f32>
  } do {
  ^bb0(%i: tensor<i64>, %r: tensor<?xf32, #dyn.shape<[N]>>, %d: tensor<f32>):
    %next = graph.compute ins(%x, %r : tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
      iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
    } {
    ^bb0(%a: f32, %b: f32):
      %half = arith.constant 0.5 : f32
      %0 = arith.divf %a, %b : f32
      %1 = arith.addf %0, %b : f32
      %2 = arith.mulf %1, %half : f32
      graph.yield %2 : f32
    }
    %step = graph.compute ins(%next, %r : tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>) -> tensor<f32> {
      iterators = #graph.iterators<[reduce]>, combiners = #graph.combiners<[max]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>]
    } {
    ^bb0(%a: f32, %b: f32):
      %0 = arith.subf %a, %b : f32
      %1 = math.absf %0 : f32
      graph.yield %1 : f32
    }
    %n = tensor.extract %i[] : tensor<i64>
    %one = arith.constant 1 : i64
    %m1 = arith.addi %n, %one : i64
    %j = tensor.from_elements %m1 : tensor<i64>
    scf.yield %j, %next, %step : tensor<i64>, tensor<?xf32, #dyn.shape<[N]>>, tensor<f32>
  }
  %c = tensor.extract %add[] : tensor<i1>
  %y = scf.if %c -> (tensor<?xf32, #dyn.shape<[N]>>) {
    %s = graph.compute ins(%root, %w : tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[M]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
      iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
    } {
    ^bb0(%a: f32, %b: f32):
      %0 = arith.addf %a, %b : f32
      graph.yield %0 : f32
    }
    scf.yield %s : tensor<?xf32, #dyn.shape<[N]>>
  } else {
    scf.yield %root : tensor<?xf32, #dyn.shape<[N]>>
  }
  %h1 = call @halve(%m) : (tensor<?x4xf32, #dyn.shape<[R, 4]>>) -> tensor<?x4xf32, #dyn.shape<[R, 4]>>
  %h2 = call @halve(%h1) : (tensor<?x4xf32, #dyn.shape<[R, 4]>>) -> tensor<?x4xf32, #dyn.shape<[R, 4]>>
  %h3 = call @halve(%pair) : (tensor<1x2xf32>) -> tensor<1x2xf32>
  return %y, %count, %h2, %h3 : tensor<?xf32, #dyn.shape<[N]>>, tensor<i64>, tensor<?x4xf32, #dyn.shape<[R, 4]>>, tensor<1x2xf32>
}
