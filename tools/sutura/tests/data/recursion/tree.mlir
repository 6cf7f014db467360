// A Tree-LSTM with two children: the state of a node is made of the states of its children, by a function that calls itself. `left` and
// `right` have for each node the number of its child, below 0 where there is none; such a child has the state that is given.

func.func private @node(
    %at: tensor<i64>, %left: tensor<?xi64, #dyn.shape<[T]>>, %right: tensor<?xi64, #dyn.shape<[T]>>, %x: tensor<?x?xf32, #dyn.shape<[T, E]>>,
    %wx: tensor<?x5x?xf32, #dyn.shape<[E, 5, H]>>, %wl: tensor<?x5x?xf32, #dyn.shape<[H, 5, H]>>,
    %wr: tensor<?x5x?xf32, #dyn.shape<[H, 5, H]>>, %b: tensor<5x?xf32, #dyn.shape<[5, H]>>,
    %h0: tensor<?xf32, #dyn.shape<[H]>>, %c0: tensor<?xf32, #dyn.shape<[H]>>)
    -> (tensor<?xf32, #dyn.shape<[H]>>, tensor<?xf32, #dyn.shape<[H]>>) {
  %none = arith.constant 0 : i64
  %l = graph.gather %left, %at {axis = 0} : tensor<?xi64, #dyn.shape<[T]>>, tensor<i64> -> tensor<i64>
  %r = graph.gather %right, %at {axis = 0} : tensor<?xi64, #dyn.shape<[T]>>, tensor<i64> -> tensor<i64>
  %i = tensor.extract %l[] : tensor<i64>
  %j = tensor.extract %r[] : tensor<i64>
  %has_l = arith.cmpi sge, %i, %none : i64
  %has_r = arith.cmpi sge, %j, %none : i64
  %hl, %cl = scf.if %has_l -> (tensor<?xf32, #dyn.shape<[H]>>, tensor<?xf32, #dyn.shape<[H]>>) {
    %h, %c = func.call @node(%l, %left, %right, %x, %wx, %wl, %wr, %b, %h0, %c0)
        : (tensor<i64>, tensor<?xi64, #dyn.shape<[T]>>, tensor<?xi64, #dyn.shape<[T]>>, tensor<?x?xf32, #dyn.shape<[T, E]>>,
           tensor<?x5x?xf32, #dyn.shape<[E, 5, H]>>, tensor<?x5x?xf32, #dyn.shape<[H, 5, H]>>, tensor<?x5x?xf32, #dyn.shape<[H, 5, H]>>,
           tensor<5x?xf32, #dyn.shape<[5, H]>>, tensor<?xf32, #dyn.shape<[H]>>, tensor<?xf32, #dyn.shape<[H]>>)
        -> (tensor<?xf32, #dyn.shape<[H]>>, tensor<?xf32, #dyn.shape<[H]>>)
    scf.yield %h, %c : tensor<?xf32, #dyn.shape<[H]>>, tensor<?xf32, #dyn.shape<[H]>>
  } else {
    scf.yield %h0, %c0 : tensor<?xf32, #dyn.shape<[H]>>, tensor<?xf32, #dyn.shape<[H]>>
  }
  %hr, %cr = scf.if %has_r -> (tensor<?xf32, #dyn.shape<[H]>>, tensor<?xf32, #dyn.shape<[H]>>) {
    %h, %c = func.call @node(%r, %left, %right, %x, %wx, %wl, %wr, %b, %h0, %c0)
        : (tensor<i64>, tensor<?xi64, #dyn.shape<[T]>>, tensor<?xi64, #dyn.shape<[T]>>, tensor<?x?xf32, #dyn.shape<[T, E]>>,
           tensor<?x5x?xf32, #dyn.shape<[E, 5, H]>>, tensor<?x5x?xf32, #dyn.shape<[H, 5, H]>>, tensor<?x5x?xf32, #dyn.shape<[H, 5, H]>>,
           tensor<5x?xf32, #dyn.shape<[5, H]>>, tensor<?xf32, #dyn.shape<[H]>>, tensor<?xf32, #dyn.shape<[H]>>)
        -> (tensor<?xf32, #dyn.shape<[H]>>, tensor<?xf32, #dyn.shape<[H]>>)
    scf.yield %h, %c : tensor<?xf32, #dyn.shape<[H]>>, tensor<?xf32, #dyn.shape<[H]>>
  } else {
    scf.yield %h0, %c0 : tensor<?xf32, #dyn.shape<[H]>>, tensor<?xf32, #dyn.shape<[H]>>
  }
  %row = graph.gather %x, %at {axis = 0} : tensor<?x?xf32, #dyn.shape<[T, E]>>, tensor<i64> -> tensor<?xf32, #dyn.shape<[E]>>
  %zx = graph.compute ins(%row, %wx : tensor<?xf32, #dyn.shape<[E]>>, tensor<?x5x?xf32, #dyn.shape<[E, 5, H]>>) -> tensor<5x?xf32, #dyn.shape<[5, H]>> {
    iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>,
    maps = [affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d2, d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>]
  } {
  ^bb0(%a: f32, %w: f32):
    %0 = arith.mulf %a, %w : f32
    graph.yield %0 : f32
  }
  %zl = graph.compute ins(%hl, %wl : tensor<?xf32, #dyn.shape<[H]>>, tensor<?x5x?xf32, #dyn.shape<[H, 5, H]>>) -> tensor<5x?xf32, #dyn.shape<[5, H]>> {
    iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>,
    maps = [affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d2, d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>]
  } {
  ^bb0(%a: f32, %w: f32):
    %0 = arith.mulf %a, %w : f32
    graph.yield %0 : f32
  }
  %zr = graph.compute ins(%hr, %wr : tensor<?xf32, #dyn.shape<[H]>>, tensor<?x5x?xf32, #dyn.shape<[H, 5, H]>>) -> tensor<5x?xf32, #dyn.shape<[5, H]>> {
    iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>,
    maps = [affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d2, d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>]
  } {
  ^bb0(%a: f32, %w: f32):
    %0 = arith.mulf %a, %w : f32
    graph.yield %0 : f32
  }
  %z = graph.compute ins(%zx, %zl, %zr, %b : tensor<5x?xf32, #dyn.shape<[5, H]>>, tensor<5x?xf32, #dyn.shape<[5, H]>>, tensor<5x?xf32, #dyn.shape<[5, H]>>, tensor<5x?xf32, #dyn.shape<[5, H]>>) -> tensor<5x?xf32, #dyn.shape<[5, H]>> {
    iterators = #graph.iterators<[parallel, parallel]>,
    maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
  } {
  ^bb0(%a: f32, %c: f32, %d: f32, %e: f32):
    %0 = arith.addf %a, %c : f32
    %1 = arith.addf %0, %d : f32
    %2 = arith.addf %1, %e : f32
    graph.yield %2 : f32
  }
  %c = graph.compute ins(%z, %z, %z, %z, %cl, %cr : tensor<5x?xf32, #dyn.shape<[5, H]>>, tensor<5x?xf32, #dyn.shape<[5, H]>>, tensor<5x?xf32, #dyn.shape<[5, H]>>, tensor<5x?xf32, #dyn.shape<[5, H]>>, tensor<?xf32, #dyn.shape<[H]>>, tensor<?xf32, #dyn.shape<[H]>>) -> tensor<?xf32, #dyn.shape<[H]>> {
    iterators = #graph.iterators<[parallel]>,
    maps = [affine_map<(d0) -> (0, d0)>, affine_map<(d0) -> (1, d0)>, affine_map<(d0) -> (2, d0)>, affine_map<(d0) -> (4, d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
  } {
  ^bb0(%i0: f32, %f0: f32, %g0: f32, %u0: f32, %l0: f32, %r0: f32):
    %one = arith.constant 1.0 : f32
    %ni = arith.negf %i0 : f32
    %ei = math.exp %ni : f32
    %di = arith.addf %ei, %one : f32
    %si = arith.divf %one, %di : f32
    %nf = arith.negf %f0 : f32
    %ef = math.exp %nf : f32
    %df = arith.addf %ef, %one : f32
    %sf = arith.divf %one, %df : f32
    %ng = arith.negf %g0 : f32
    %eg = math.exp %ng : f32
    %dg = arith.addf %eg, %one : f32
    %sg = arith.divf %one, %dg : f32
    %tu = math.tanh %u0 : f32
    %0 = arith.mulf %si, %tu : f32
    %1 = arith.mulf %sf, %l0 : f32
    %2 = arith.mulf %sg, %r0 : f32
    %3 = arith.addf %0, %1 : f32
    %4 = arith.addf %3, %2 : f32
    graph.yield %4 : f32
  }
  %h = graph.compute ins(%z, %c : tensor<5x?xf32, #dyn.shape<[5, H]>>, tensor<?xf32, #dyn.shape<[H]>>) -> tensor<?xf32, #dyn.shape<[H]>> {
    iterators = #graph.iterators<[parallel]>,
    maps = [affine_map<(d0) -> (3, d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
  } {
  ^bb0(%o0: f32, %c1: f32):
    %one = arith.constant 1.0 : f32
    %no = arith.negf %o0 : f32
    %eo = math.exp %no : f32
    %do = arith.addf %eo, %one : f32
    %so = arith.divf %one, %do : f32
    %tc = math.tanh %c1 : f32
    %0 = arith.mulf %so, %tc : f32
    graph.yield %0 : f32
  }
  return %h, %c : tensor<?xf32, #dyn.shape<[H]>>, tensor<?xf32, #dyn.shape<[H]>>
}

func.func @main(
    %root: tensor<i64>, %left: tensor<?xi64, #dyn.shape<[T]>>, %right: tensor<?xi64, #dyn.shape<[T]>>, %x: tensor<?x?xf32, #dyn.shape<[T, E]>>,
    %wx: tensor<?x5x?xf32, #dyn.shape<[E, 5, H]>>, %wl: tensor<?x5x?xf32, #dyn.shape<[H, 5, H]>>,
    %wr: tensor<?x5x?xf32, #dyn.shape<[H, 5, H]>>, %b: tensor<5x?xf32, #dyn.shape<[5, H]>>,
    %h0: tensor<?xf32, #dyn.shape<[H]>>, %c0: tensor<?xf32, #dyn.shape<[H]>>)
    -> (tensor<?xf32, #dyn.shape<[H]>>, tensor<?xf32, #dyn.shape<[H]>>) {
  %h, %c = call @node(%root, %left, %right, %x, %wx, %wl, %wr, %b, %h0, %c0)
      : (tensor<i64>, tensor<?xi64, #dyn.shape<[T]>>, tensor<?xi64, #dyn.shape<[T]>>, tensor<?x?xf32, #dyn.shape<[T, E]>>,
         tensor<?x5x?xf32, #dyn.shape<[E, 5, H]>>, tensor<?x5x?xf32, #dyn.shape<[H, 5, H]>>, tensor<?x5x?xf32, #dyn.shape<[H, 5, H]>>,
         tensor<5x?xf32, #dyn.shape<[5, H]>>, tensor<?xf32, #dyn.shape<[H]>>, tensor<?xf32, #dyn.shape<[H]>>)
      -> (tensor<?xf32, #dyn.shape<[H]>>, tensor<?xf32, #dyn.shape<[H]>>)
  return %h, %c : tensor<?xf32, #dyn.shape<[H]>>, tensor<?xf32, #dyn.shape<[H]>>
}
