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
