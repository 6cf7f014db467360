// Ops that routines of the runtime compute: forms, sizes, folds, what they become.

// RUN: sutura-opt %s --propagate-shapes | FileCheck %s --check-prefix=SIZES
// RUN: sutura-opt %s --canonicalize | FileCheck %s --check-prefix=FOLD
// RUN: sutura-opt %s --propagate-shapes --stitch --convert-graph-to-gir --plan-buffers | FileCheck %s --check-prefix=CALLS
// RUN: sutura-opt %s --propagate-shapes --stitch --convert-graph-to-gir --plan-buffers --check-passes=3 --strict -o /dev/null

!matrix = tensor<?x?xf32, #dyn.shape<[M, N]>>
!places = tensor<?x?xi64, #dyn.shape<[M, N]>>

// SIZES-LABEL: func.func @sorted
// SIZES: graph.sort %{{.*}}, %{{.*}} {axis = 1 : i64, descending = array<i64: 1>} : !matrix, !places -> !matrix, !places
// Results are made in the memory of outputs; nothing else is there but what the routine needs for itself.
// CALLS-LABEL: rt.program @sorted(
// CALLS-SAME: %[[X:.*]] : !rt.buffer<f32, [M, N]> in "x", %[[I:.*]] : !rt.buffer<i64, [M, N]> in "i"
// CALLS-SAME: %[[Y:.*]] : !rt.buffer<f32, [M, N]> out "result0", %[[J:.*]] : !rt.buffer<i64, [M, N]> out "result1"
// CALLS: %[[W:.*]] = alloc : !rt.buffer<i8, [48*N*min(M, 16)]>
// CALLS-NEXT: call "sort" version 1 ins(%[[X]], %[[I]]) outs(%[[Y]], %[[J]]) scratch(%[[W]]) params(axis [1], descending [1])
func.func @sorted(%x: !matrix, %i: !places) -> (tensor<?x?xf32>, tensor<?x?xi64>) {
  %M = dyn.symbol "M" {range = [0, 5]} : index
  %N = dyn.symbol "N" {range = [0, 40]} : index
  %y, %j = graph.sort %x, %i {axis = 1 : i64, descending = array<i64: 1>} : !matrix, !places -> tensor<?x?xf32>, tensor<?x?xi64>
  return %y, %j : tensor<?x?xf32>, tensor<?x?xi64>
}

// Along a single element nothing is to be sorted.
// FOLD-LABEL: func.func @single
// FOLD-SAME: (%[[X:.*]]: tensor<3x1xf32>, %[[I:.*]]: tensor<3x1xi32>)
// FOLD-NEXT: return %[[X]], %[[I]]
func.func @single(%x: tensor<3x1xf32>, %i: tensor<3x1xi32>) -> (tensor<3x1xf32>, tensor<3x1xi32>) {
  %y, %j = graph.sort %x, %i {axis = 1 : i64, descending = array<i64: 0>}
      : tensor<3x1xf32>, tensor<3x1xi32> -> tensor<3x1xf32>, tensor<3x1xi32>
  return %y, %j : tensor<3x1xf32>, tensor<3x1xi32>
}

// Several keys, along the first axis, of truth values and small floats.
// FOLD-LABEL: func.func @by_two_keys
// FOLD: graph.sort
// CALLS-LABEL: rt.program @by_two_keys(
// CALLS: call "sort" version 1 ins(%{{.*}}, %{{.*}}, %{{.*}}) outs(%{{.*}}, %{{.*}}, %{{.*}}) scratch(%{{.*}}) params(axis [0], descending [1, 0])
func.func @by_two_keys(%a: tensor<9x2xi1>, %b: tensor<9x2xf16>, %c: tensor<9x2xi8>)
    -> (tensor<9x2xi1>, tensor<9x2xf16>, tensor<9x2xi8>) {
  %0:3 = graph.sort %a, %b, %c {axis = 0 : i64, descending = array<i64: 1, 0>}
      : tensor<9x2xi1>, tensor<9x2xf16>, tensor<9x2xi8> -> tensor<9x2xi1>, tensor<9x2xf16>, tensor<9x2xi8>
  return %0#0, %0#1, %0#2 : tensor<9x2xi1>, tensor<9x2xf16>, tensor<9x2xi8>
}

// That there are as many elements as are taken is checked in the run.
// SIZES-LABEL: func.func @best
// SIZES: dyn.equal [min(N, 5) - 5], [0]
// SIZES: graph.top_k %{{.*}} [5] {axis = 1 : i64} : {{.*}} -> tensor<?x5xf32, #dyn.shape<[M, 5]>>, tensor<?x5xi64, #dyn.shape<[M, 5]>>
// CALLS-LABEL: rt.program @best(
// CALLS: call "top_k" version 1 ins(%{{.*}}) outs(%[[V:.*]], %{{.*}}) scratch(%{{.*}}) params(axis [1], k [5], smallest [0])
// CALLS: launch @best_row0(%[[V]], %{{.*}})
func.func @best(%x: !matrix) -> (tensor<?x5xf32>, tensor<?x5xi64>) {
  %M = dyn.symbol "M" {range = [0, 5]} : index
  %N = dyn.symbol "N" {range = [0, 40]} : index
  %v, %i = graph.top_k %x [5] {axis = 1 : i64} : !matrix -> tensor<?x5xf32>, tensor<?x5xi64>
  %e = graph.compute ins(%v : tensor<?x5xf32>) -> tensor<?x5xf32>
      {iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]} {
  ^bb0(%a: f32):
    %b = arith.addf %a, %a : f32
    graph.yield %b : f32
  }
  return %e, %i : tensor<?x5xf32>, tensor<?x5xi64>
}

// SIZES-LABEL: func.func @half
// SIZES: graph.top_k %{{.*}} [N floordiv 2] {axis = 1 : i64, smallest} : {{.*}} -> tensor<?x?xf32, #dyn.shape<[M, N floordiv 2]>>
func.func @half(%x: !matrix) -> tensor<?x?xf32> {
  %M = dyn.symbol "M" {range = [0, 5]} : index
  %N = dyn.symbol "N" {range = [0, 40]} : index
  %v, %i = graph.top_k %x [N floordiv 2] {axis = 1 : i64, smallest} : !matrix -> tensor<?x?xf32>, tensor<?x?xi64>
  return %v : tensor<?x?xf32>
}

// SIZES-LABEL: func.func @spectrum
// SIZES: graph.fft %{{.*}} [N] {axis = 0 : i64, onesided} : {{.*}} -> tensor<?x2xf64, #dyn.shape<[N floordiv 2 + 1, 2]>>
// CALLS-LABEL: rt.program @spectrum(
// CALLS: call "fft" version 1 ins(%{{.*}}) outs(%{{.*}}) scratch(%{{.*}}) params(axis [0], bins [N floordiv 2 + 1], inverse [0], real [0], size [N])
func.func @spectrum(%x: tensor<?x1xf64, #dyn.shape<[N, 1]>>) -> tensor<?x2xf64> {
  %N = dyn.symbol "N" {range = [0, 40]} : index
  %y = graph.fft %x [N] {axis = 0 : i64, onesided} : tensor<?x1xf64, #dyn.shape<[N, 1]>> -> tensor<?x2xf64>
  return %y : tensor<?x2xf64>
}

// A line is cut, and continued by zeros.
func.func @back(%x: tensor<3x7x2xbf16>) -> (tensor<3x4x2xbf16>, tensor<3x11x2xbf16>) {
  %y = graph.fft %x [4] {axis = 1 : i64, inverse} : tensor<3x7x2xbf16> -> tensor<3x4x2xbf16>
  %z = graph.fft %x [11] {axis = 1 : i64} : tensor<3x7x2xbf16> -> tensor<3x11x2xbf16>
  return %y, %z : tensor<3x4x2xbf16>, tensor<3x11x2xbf16>
}

// CALLS-LABEL: rt.program @real(
// CALLS: call "fft" version 1 ins(%{{.*}}) outs(%{{.*}}) scratch(%{{.*}}) params(axis [0], bins [2*N - 2], inverse [1], real [1], size [2*N - 2])
func.func @real(%x: tensor<?x2xf64, #dyn.shape<[N, 2]>>) -> tensor<?x1xf64> {
  %N = dyn.symbol "N" {range = [1, 40]} : index
  %y = graph.fft %x [2*N - 2] {axis = 0 : i64, inverse, onesided} : tensor<?x2xf64, #dyn.shape<[N, 2]>> -> tensor<?x1xf64>
  return %y : tensor<?x1xf64>
}
