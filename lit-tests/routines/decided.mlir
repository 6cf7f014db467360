// Sizes that data decide: what is known of them, what is planned, and where they are checked.

// RUN: sutura-opt %s --propagate-shapes | FileCheck %s --check-prefix=SIZES
// RUN: sutura-opt %s --propagate-shapes --propagate-shapes | FileCheck %s --check-prefix=SIZES
// RUN: sutura-opt %s --propagate-shapes --stitch --convert-graph-to-gir --plan-buffers | FileCheck %s --check-prefix=CALLS
// RUN: sutura-opt %s --propagate-shapes --stitch --convert-graph-to-gir --plan-buffers --check-passes=3 --strict -o /dev/null

!matrix = tensor<?x?xf32, #dyn.shape<[M, N]>>

// A size that nothing tells before the run gets a name, and what follows is made of it.
// SIZES-LABEL: func.func @found
// SIZES: dyn.symbol "non_zero_1" {range = [0, 200]}
// SIZES: graph.non_zero %{{.*}} : !matrix -> tensor<2x?xi64, #dyn.shape<[2, non_zero_1]>>
// The list of sizes is the last output. The memory of the output is large enough for the most that there may be.
// CALLS-LABEL: rt.program @found(
// CALLS-SAME: %[[X:.*]] : !rt.buffer<f32, [M, N]> in "x", %[[Y:.*]] : !rt.buffer<i64, [2, non_zero_1]> out "result0"
// CALLS: %[[S:.*]] = alloc : !rt.buffer<i64, [1]>
// CALLS-NEXT: call "non_zero" version 1 ins(%[[X]]) outs(%[[Y]], %[[S]]) params(found [non_zero_1]) {what = "graph.non_zero '%p'"}
func.func @found(%x: !matrix) -> tensor<2x?xi64> {
  %M = dyn.symbol "M" {range = [0, 5]} : index
  %N = dyn.symbol "N" {range = [0, 40]} : index
  %p = graph.non_zero %x : !matrix -> tensor<2x?xi64>
  return %p : tensor<2x?xi64>
}

// A kernel runs over as many as were found. What is returned in other dims than it is made in has memory of its own first.
// SIZES-LABEL: func.func @doubled
// SIZES: graph.reshape %{{.*}} -> tensor<?xi64, #dyn.shape<[2*K]>>
// CALLS-LABEL: rt.program @doubled(
// CALLS: %[[P:.*]] = alloc {{.*}}: !rt.buffer<i64, [2, K]>
// CALLS: call "non_zero" version 1 ins(%{{.*}}) outs(%[[P]], %{{.*}}) params(found [K])
// CALLS: launch @doubled_row0(
func.func @doubled(%x: !matrix) -> tensor<?xi64> {
  %M = dyn.symbol "M" {range = [0, 5]} : index
  %N = dyn.symbol "N" {range = [0, 40]} : index
  %K = dyn.symbol "K" {range = [0, 200]} : index
  %p = graph.non_zero %x : !matrix -> tensor<2x?xi64, #dyn.shape<[2, K]>>
  %s = arith.constant dense<-1> : tensor<1xi64>
  %f = graph.reshape %p, %s : tensor<2x?xi64, #dyn.shape<[2, K]>>, tensor<1xi64> -> tensor<?xi64>
  %y = graph.compute ins(%f : tensor<?xi64>) -> tensor<?xi64>
      {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
  ^bb0(%a: i64):
    %b = arith.addi %a, %a : i64
    graph.yield %b : i64
  }
  return %y : tensor<?xi64>
}

// A size that several results have is one symbol.
// SIZES-LABEL: func.func @once
// SIZES: graph.unique %{{.*}} {axis = 0 : i64} : {{.*}} -> tensor<?x?xf32, #dyn.shape<[unique_0, N]>>, tensor<?xi64, #dyn.shape<[unique_0]>>, tensor<?xi64, #dyn.shape<[M]>>, tensor<?xi64, #dyn.shape<[unique_0]>>
// CALLS-LABEL: rt.program @once(
// CALLS: call "unique" version 1 ins(%{{.*}}) outs(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) scratch(%{{.*}}) params(axis [0], found [unique_0], sorted [1])
func.func @once(%x: !matrix) -> (tensor<?x?xf32>, tensor<?xi64>, tensor<?xi64>, tensor<?xi64>) {
  %M = dyn.symbol "M" {range = [0, 5]} : index
  %N = dyn.symbol "N" {range = [0, 4]} : index
  %y, %f, %i, %c = graph.unique %x {axis = 0 : i64} : !matrix -> tensor<?x?xf32>, tensor<?xi64>, tensor<?xi64>, tensor<?xi64>
  return %y, %f, %i, %c : tensor<?x?xf32>, tensor<?xi64>, tensor<?xi64>, tensor<?xi64>
}

// SIZES-LABEL: func.func @boxes
// SIZES: graph.non_max_suppression {{.*}} -> tensor<?x3xi64, #dyn.shape<[non_max_suppression_0, 3]>>
// CALLS-LABEL: rt.program @boxes(
// CALLS: call "non_max_suppression" version 1 ins(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) outs(%{{.*}}, %{{.*}}) scratch(%{{.*}}) params(centers [0], filtered [1], found [non_max_suppression_0])
func.func @boxes(%s: tensor<1x2x?xf32, #dyn.shape<[1, 2, N]>>, %b: tensor<1x?x4xf32, #dyn.shape<[1, N, 4]>>, %m: tensor<1xi64>, %o: tensor<1xf32>, %l: tensor<1xf32>) -> tensor<?x3xi64> {
  %N = dyn.symbol "N" {range = [0, 9]} : index
  %r = graph.non_max_suppression %s, %b, %m, %o, %l {filtered}
      : tensor<1x2x?xf32, #dyn.shape<[1, 2, N]>>, tensor<1x?x4xf32, #dyn.shape<[1, N, 4]>>, tensor<1xi64>, tensor<1xf32>, tensor<1xf32> -> tensor<?x3xi64>
  return %r : tensor<?x3xi64>
}
