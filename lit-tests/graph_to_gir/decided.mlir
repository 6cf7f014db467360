// Sizes that sides and iterations make: memory has place for the most, and the host passes the sizes on.

// RUN: sutura-opt %s --outline-regions --propagate-shapes --convert-graph-to-gir --split-input-file | FileCheck %s

// One of two inputs.
// CHECK-LABEL: rt.program @either(
// CHECK-SAME: %[[Y:.*]] : !rt.buffer<f32, [scf_if_0]> out "result0"
// CHECK: %[[S:.*]] = size_list : !rt.buffer<i64, [1]>
// CHECK: if
// CHECK: write_sizes %[[S]] {sizes = #dyn.shape<[N]>}
// CHECK: write_sizes %[[S]] {sizes = #dyn.shape<[M]>}
// CHECK: read_sizes %[[S]] {most = #dyn.shape<[M + N - min(M, N)]>, sizes = #dyn.shape<[scf_if_0]>
func.func @either(%f: tensor<i1>, %x: tensor<?xf32, #dyn.shape<[N]>>, %y: tensor<?xf32, #dyn.shape<[M]>>) -> tensor<?xf32> {
  %c = tensor.extract %f[] : tensor<i1>
  %r = scf.if %c -> (tensor<?xf32>) {
    %a = tensor.cast %x : tensor<?xf32, #dyn.shape<[N]>> to tensor<?xf32>
    scf.yield %a : tensor<?xf32>
  } else {
    %a = tensor.cast %y : tensor<?xf32, #dyn.shape<[M]>> to tensor<?xf32>
    scf.yield %a : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

// What sides find has a symbol of its own in each, and is written where the result lies.
// CHECK-LABEL: rt.program @found(
// CHECK-DAG: view %{{.*}} {front} : !rt.buffer<i64, [1, scf_if_1]> -> !rt.buffer<i64, [1, [[A:.*]]]>
// CHECK: invoke @found_then ins({{.*}}) outs({{.*}}) {most = #dyn.shape<[1, N]>}
// CHECK-NEXT: write_sizes
// CHECK: invoke @found_else ins({{.*}}) outs({{.*}}) {most = #dyn.shape<[1, M]>}
// CHECK-NEXT: write_sizes
// CHECK: read_sizes {{.*}} sizes = #dyn.shape<[scf_if_1]>
func.func @found(%f: tensor<i1>, %x: tensor<?xf32, #dyn.shape<[N]>>, %y: tensor<?xf32, #dyn.shape<[M]>>) -> tensor<1x?xi64> {
  %c = tensor.extract %f[] : tensor<i1>
  %r = scf.if %c -> (tensor<1x?xi64>) {
    %a = graph.non_zero %x : tensor<?xf32, #dyn.shape<[N]>> -> tensor<1x?xi64>
    %b = graph.non_zero %x : tensor<?xf32, #dyn.shape<[N]>> -> tensor<1x?xi64>
    scf.yield %a : tensor<1x?xi64>
  } else {
    %a = graph.non_zero %y : tensor<?xf32, #dyn.shape<[M]>> -> tensor<1x?xi64>
    %b = graph.non_zero %x : tensor<?xf32, #dyn.shape<[N]>> -> tensor<1x?xi64>
    scf.yield %a : tensor<1x?xi64>
  }
  return %r : tensor<1x?xi64>
}

// -----

// Ranges bound what sides make.
// CHECK-LABEL: rt.program @ranges(
// CHECK-SAME: scf_if_0 : [0, 100]
// CHECK: read_sizes
func.func @ranges(%f: tensor<i1>, %x: tensor<?xf32, #dyn.shape<[N]>>, %y: tensor<?xf32, #dyn.shape<[M]>>) -> tensor<?xf32> {
  %N = dyn.symbol "N" {range = [0, 64]} : index
  %M = dyn.symbol "M" {range = [0, 100]} : index
  %c = tensor.extract %f[] : tensor<i1>
  %r = scf.if %c -> (tensor<?xf32>) {
    %a = tensor.cast %x : tensor<?xf32, #dyn.shape<[N]>> to tensor<?xf32>
    scf.yield %a : tensor<?xf32>
  } else {
    %a = tensor.cast %y : tensor<?xf32, #dyn.shape<[M]>> to tensor<?xf32>
    scf.yield %a : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

// What the function calls by one name on both sides and behind is told apart.
// CHECK-LABEL: rt.program @named(
// CHECK: read_sizes {{.*}} sizes = #dyn.shape<[K]>
func.func @named(%f: tensor<i1>, %x: tensor<?xf32, #dyn.shape<[N]>>, %y: tensor<?xf32, #dyn.shape<[M]>>) -> tensor<1x?xi64, #dyn.shape<[1, K]>> {
  %K = dyn.symbol "K" : index
  %c = tensor.extract %f[] : tensor<i1>
  %r = scf.if %c -> (tensor<1x?xi64, #dyn.shape<[1, K]>>) {
    %a = graph.non_zero %x : tensor<?xf32, #dyn.shape<[N]>> -> tensor<1x?xi64, #dyn.shape<[1, K]>>
    scf.yield %a : tensor<1x?xi64, #dyn.shape<[1, K]>>
  } else {
    %a = graph.non_zero %y : tensor<?xf32, #dyn.shape<[M]>> -> tensor<1x?xi64, #dyn.shape<[1, K]>>
    scf.yield %a : tensor<1x?xi64, #dyn.shape<[1, K]>>
  }
  return %r : tensor<1x?xi64, #dyn.shape<[1, K]>>
}
