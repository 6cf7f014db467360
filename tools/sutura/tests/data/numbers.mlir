// Numbers that data tell as sizes: of a range, and in each iteration of a loop.

!i64 = tensor<i64>
!places = tensor<?x0xi1, #dyn.shape<[P, 0]>>
!loop = tensor<?x0xi1, #dyn.shape<[Q, 0]>>

func.func @main(%n: !i64 {graph.name = "n"}, %turns: !i64 {graph.name = "turns"}, %places: !places {graph.name = "P"}, %inner: !loop {graph.name = "Q"})
    -> (tensor<?xi64, #dyn.shape<[N]>> {graph.name = "range"}, !i64 {graph.name = "sum"}) {
  %P = dyn.symbol "P" : index
  %Q = dyn.symbol "Q" : index
  %N = dyn.symbol "N" : index
  %K = dyn.symbol "K" : index
  %rows = graph.decide_size %n, %places : !i64, !places -> tensor<?x0xi1, #dyn.shape<[N, 0]>>
  %range = graph.compute ins() -> tensor<?xi64, #dyn.shape<[N]>>
      {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>]} {
    %i = graph.index 0 : index
    %r = arith.index_cast %i : index to i64
    graph.yield %r : i64
  }
  %zero = arith.constant dense<0> : !i64
  %out:2 = scf.while (%i = %zero, %sum = %zero) : (!i64, !i64) -> (!i64, !i64) {
    %less = graph.compute ins(%i, %turns : !i64, !i64) -> tensor<i1>
        {iterators = #graph.iterators<[]>, maps = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>]} {
    ^bb0(%a: i64, %b: i64):
      %c = arith.cmpi slt, %a, %b : i64
      graph.yield %c : i1
    }
    %goes = tensor.extract %less[] : tensor<i1>
    scf.condition(%goes) %i, %sum : !i64, !i64
  } do {
  ^bb0(%i: !i64, %sum: !i64):
    %rows_k = graph.decide_size %i, %inner : !i64, !loop -> tensor<?x0xi1, #dyn.shape<[K, 0]>>
    %numbers = graph.compute ins() -> tensor<?xi64, #dyn.shape<[K]>>
        {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>]} {
      %j = graph.index 0 : index
      %r = arith.index_cast %j : index to i64
      graph.yield %r : i64
    }
    %part = graph.compute ins(%numbers : tensor<?xi64, #dyn.shape<[K]>>) -> !i64
        {iterators = #graph.iterators<[reduce]>, combiners = #graph.combiners<[add]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>]} {
    ^bb0(%a: i64):
      graph.yield %a : i64
    }
    %next = graph.compute ins(%sum, %part : !i64, !i64) -> !i64
        {iterators = #graph.iterators<[]>, maps = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>]} {
    ^bb0(%a: i64, %b: i64):
      %c = arith.addi %a, %b : i64
      graph.yield %c : i64
    }
    %more = graph.compute ins(%i : !i64) -> !i64
        {iterators = #graph.iterators<[]>, maps = [affine_map<() -> ()>, affine_map<() -> ()>]} {
    ^bb0(%a: i64):
      %one = arith.constant 1 : i64
      %c = arith.addi %a, %one : i64
      graph.yield %c : i64
    }
    scf.yield %more, %next : !i64, !i64
  }
  return %range, %out#1 : tensor<?xi64, #dyn.shape<[N]>>, !i64
}
