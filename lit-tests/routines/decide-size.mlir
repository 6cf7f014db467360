// A number that data tell is a size: what is planned, and which input the runtime gives.

// RUN: sutura-opt %s --propagate-shapes | FileCheck %s --check-prefix=SIZES
// RUN: sutura-opt %s --propagate-shapes --stitch --convert-graph-to-gir --plan-buffers | FileCheck %s --check-prefix=CALLS
// RUN: sutura-opt %s --propagate-shapes --stitch --convert-graph-to-gir --plan-buffers --convert-gir-to-cpu --convert-rt-to-llvm | FileCheck %s --check-prefix=HOST

!places = tensor<?x0xi1, #dyn.shape<[P, 0]>>

// SIZES-LABEL: func.func @range
// SIZES: dyn.symbol "decide_size_0" : index
// SIZES: graph.decide_size %{{.*}}, %{{.*}} : tensor<i64>, !places -> tensor<?x0xi1, #dyn.shape<[decide_size_0, 0]>>
// CALLS-LABEL: rt.program @range(
// CALLS: call "decide_size" version 1 ins(%{{.*}}, %{{.*}}) outs(%{{.*}}, %{{.*}}) params(found [decide_size_0])
// The check that there is place says which symbol was too small.
// HOST: rt.host = {
// HOST-SAME: reserve = "P"
// HOST-SAME: inputs = [{name = "n"
// HOST-SAME: reserves = [{name = "places", type = !rt.buffer<i1, [P, 0]>}]
func.func @range(%n: tensor<i64> {graph.name = "n"}, %places: !places {graph.name = "places"}) -> tensor<?x0xi1> {
  %rows = graph.decide_size %n, %places : tensor<i64>, !places -> tensor<?x0xi1>
  return %rows : tensor<?x0xi1>
}
