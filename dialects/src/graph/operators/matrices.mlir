// Square matrices.

#id1 = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#sample = affine_map<(b, n) -> (b)>
#number2 = affine_map<(b, n) -> ()>
#number3 = affine_map<(b, n, m) -> ()>
#chosen3 = affine_map<(b, m, n) -> (b, n, m)>
#of_sample3 = affine_map<(b, m, n) -> (b)>
#made3 = affine_map<(b, m, n) -> (b, m)>
#column3 = affine_map<(b, n, m) -> (b, n)>
#row3 = affine_map<(b, n, m) -> (b, m)>
#sample3 = affine_map<(b, n, m) -> (b)>

!a = tensor<?x?x?xf32, #dyn.shape<[B, N, N]>>
!line = tensor<?x?xf32, #dyn.shape<[B, N]>>
!samples = tensor<?xf32, #dyn.shape<[B]>>
!places = tensor<?xi64, #dyn.shape<[B]>>

// Gauss's elimination: in step k the largest element of column k, from row k on, is the pivot; its row and row k change places. A
// column without any makes the determinant 0. NaN is larger than all, so that a matrix with one in such a column has none.
graph.operator @determinant {
  summary = "determinants of B matrices, by elimination with the largest pivot of each column",
  elements = [f32, f64]
} {
^bb0(%given: !a):
  %matrices = graph.compute ins(%given : !a) -> !a {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id3, #id3]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  %empty = graph.compute ins() -> !samples {iterators = #graph.iterators<[parallel]>, maps = [#id1]} {
    %one = arith.constant 1.0 : f32
    graph.yield %one : f32
  }
  %from = arith.constant 0 : index
  %step = arith.constant 1 : index
  %to = tensor.dim %matrices, %step : !a
  %left, %made = scf.for %i = %from to %to step %step iter_args(%a = %matrices, %product = %empty) -> (!a, !samples) {
    %number = arith.index_cast %i : index to i64
    %k = tensor.from_elements %number : tensor<i64>
    %column = graph.gather %a, %k {axis = 2 : i64} : !a, tensor<i64> -> !line
    %row = graph.gather %a, %k {axis = 1 : i64} : !a, tensor<i64> -> !line
    %sizes = graph.compute ins(%column, %k : !line, tensor<i64>) -> !line
        {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id2, #number2, #id2]} {
    ^bb0(%e: f32, %at: i64):
      %n = graph.index 1 : index
      %place = arith.index_cast %n : index to i64
      %is_left = arith.cmpi sge, %place, %at : i64
      %size = math.absf %e : f32
      %none = arith.constant -1.0 : f32
      %v = arith.select %is_left, %size, %none : f32
      graph.yield %v : f32
    }
    %largest = graph.compute ins(%sizes : !line) -> !samples
        {combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#id2, #sample]} {
    ^bb0(%e: f32):
      graph.yield %e : f32
    }
    %pivot_at = graph.compute ins(%sizes, %largest : !line, !samples) -> !places
        {combiners = #graph.combiners<[min]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#id2, #sample, #sample]} {
    ^bb0(%e: f32, %most: f32):
      %n = graph.index 1 : index
      %place = arith.index_cast %n : index to i64
      %nowhere = arith.constant 9223372036854775807 : i64
      %is_most = arith.cmpf oeq, %e, %most : f32
      %v = arith.select %is_most, %place, %nowhere : i64
      graph.yield %v : i64
    }
    // The pivot's row, and in it the pivot: of the terms all but one are nothing.
    %pivots = graph.compute ins(%a, %pivot_at : !a, !places) -> !line
        {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#chosen3, #of_sample3, #made3]} {
    ^bb0(%e: f32, %at: i64):
      %n = graph.index 2 : index
      %place = arith.index_cast %n : index to i64
      %is_own = arith.cmpi eq, %place, %at : i64
      %none = arith.constant 0.0 : f32
      %v = arith.select %is_own, %e, %none : f32
      graph.yield %v : f32
    }
    %numbers = graph.gather %pivots, %k {axis = 1 : i64} : !line, tensor<i64> -> !samples
    %pivot = graph.compute ins(%numbers, %largest : !samples, !samples) -> !samples
        {iterators = #graph.iterators<[parallel]>, maps = [#id1, #id1, #id1]} {
    ^bb0(%e: f32, %most: f32):
      %is_nan = arith.cmpf uno, %most, %most : f32
      %v = arith.select %is_nan, %most, %e : f32
      graph.yield %v : f32
    }
    // How often the pivot's row is taken off each other one. Row k, which stands where that was, has a number of its own.
    %factors = graph.compute ins(%column, %pivot : !line, !samples) -> !line
        {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id2, #sample, #id2]} {
    ^bb0(%e: f32, %p: f32):
      %zero = arith.constant 0.0 : f32
      %quotient = arith.divf %e, %p : f32
      %is_none = arith.cmpf oeq, %p, %zero : f32
      %v = arith.select %is_none, %zero, %quotient : f32
      graph.yield %v : f32
    }
    %first = graph.gather %row, %k {axis = 1 : i64} : !line, tensor<i64> -> !samples
    %turned = graph.compute ins(%first, %pivot : !samples, !samples) -> !samples
        {iterators = #graph.iterators<[parallel]>, maps = [#id1, #id1, #id1]} {
    ^bb0(%e: f32, %p: f32):
      %zero = arith.constant 0.0 : f32
      %quotient = arith.divf %e, %p : f32
      %is_none = arith.cmpf oeq, %p, %zero : f32
      %v = arith.select %is_none, %zero, %quotient : f32
      graph.yield %v : f32
    }
    %next = graph.compute ins(%a, %row, %pivots, %factors, %turned, %pivot_at, %k : !a, !line, !line, !line, !samples, !places, tensor<i64>) -> !a
        {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id3, #row3, #row3, #column3, #sample3, #sample3, #number3, #id3]} {
    ^bb0(%e: f32, %own: f32, %p: f32, %factor: f32, %of_first: f32, %chosen: i64, %at: i64):
      %n = graph.index 1 : index
      %place = arith.index_cast %n : index to i64
      %is_chosen = arith.cmpi eq, %place, %chosen : i64
      %before = arith.select %is_chosen, %own, %e : f32
      %times = arith.select %is_chosen, %of_first, %factor : f32
      %taken = arith.mulf %times, %p : f32
      %rest = arith.subf %before, %taken : f32
      %is_left = arith.cmpi sgt, %place, %at : i64
      %v = arith.select %is_left, %rest, %e : f32
      graph.yield %v : f32
    }
    %so_far = graph.compute ins(%product, %pivot, %pivot_at, %k : !samples, !samples, !places, tensor<i64>) -> !samples
        {iterators = #graph.iterators<[parallel]>, maps = [#id1, #id1, #id1, affine_map<(d0) -> ()>, #id1]} {
    ^bb0(%before: f32, %p: f32, %chosen: i64, %at: i64):
      %negated = arith.negf %before : f32
      %stays = arith.cmpi eq, %chosen, %at : i64
      %signed = arith.select %stays, %before, %negated : f32
      %v = arith.mulf %signed, %p : f32
      graph.yield %v : f32
    }
    scf.yield %next, %so_far : !a, !samples
  }
  graph.yield %made : !samples
}
