// Kernels that read at places that depend on sizes.

// RUN: sutura-opt %s --propagate-shapes --stitch --convert-graph-to-gir --canonicalize --cse | FileCheck %s
// RUN: sutura-opt %s --propagate-shapes --stitch --convert-graph-to-gir --convert-gir-to-cpu --check-passes=6 --strict -o /dev/null

// CHECK-DAG: #[[BACK:.*]] = affine_map<(d0)[s0] -> (-d0 + s0 - 1)>
// CHECK-DAG: #[[BEHIND:.*]] = affine_map<(d0)[s0] -> (d0 - s0)>
// CHECK-DAG: #[[FROM:.*]] = affine_map<(d0)[s0] -> (d0 + s0)>

!past = tensor<?x?x8xf32, #dyn.shape<[B, P, 8]>>
!new = tensor<?x?x8xf32, #dyn.shape<[B, S, 8]>>

// A row of the one part or the other; the one that does not exist is not read.
// CHECK-LABEL: gir.kernel @append_row0(
// CHECK-SAME: dims(%B : [0, 2147483647], %P : [0, 2147483647], %S : [0, 2147483647]) grid(%[[I:.*]] = B, %[[J:.*]] = P + S)
// CHECK: gir.slice %{{.*}}[%[[I]], %[[J]], %c0] cols(2) clips(1)
// CHECK: %[[AT:.*]] = gir.index #[[BEHIND]](%[[J]], %P)
// CHECK: gir.slice %{{.*}}[%[[I]], %[[AT]], %c0] cols(2) clips(1)
func.func @append(%past: !past, %new: !new) -> tensor<?x?x8xf32> {
  %c = graph.concat %past, %new {axis = 1 : i64} : !past, !new -> tensor<?x?x8xf32>
  return %c : tensor<?x?x8xf32>
}

// CHECK-LABEL: gir.kernel @integers_row0(
// CHECK: gir.load %{{.*}} pad(0 : i64)
// CHECK: gir.index #[[BEHIND]](%c0, %a_0)
func.func @integers(%a: tensor<?xi64>, %b: tensor<2xi64>) -> tensor<?xi64> {
  %c = graph.concat %a, %b {axis = 0 : i64} : tensor<?xi64>, tensor<2xi64> -> tensor<?xi64>
  return %c : tensor<?xi64>
}

// What was put behind the past and is taken from behind it is read where it comes from: at the same index.
// CHECK-LABEL: gir.kernel @again_row0(
// CHECK: %[[PAST:.*]] = gir.index #[[FROM]](%[[J:.*]], %P)
// CHECK: gir.slice %{{.*}}[%{{.*}}, %[[PAST]], %c0] cols(2) clips(1)
// CHECK: gir.slice %{{.*}}[%{{.*}}, %[[J]], %c0] cols(2)
// CHECK: gir.load %{{[0-9]+}} :
func.func @again(%past: !past, %new: !new) -> tensor<?x?x8xf32> {
  %c = graph.concat %past, %new {axis = 1 : i64} : !past, !new -> tensor<?x?x8xf32>
  %shape = graph.shape_of %past : !past -> tensor<3xi64>
  %start = graph.slice %shape {axes = array<i64: 0>, ends = array<i64: 2>, starts = array<i64: 1>, steps = array<i64: 1>} : tensor<3xi64> -> tensor<1xi64>
  %end = graph.constant dense<[9223372036854775807]> : tensor<1xi64>
  %y = graph.slice %c[%start, %end] {axes = array<i64: 1>, steps = array<i64: 1>} : tensor<?x?x8xf32>, tensor<1xi64>, tensor<1xi64> -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// Rows in the opposite order.
// CHECK-LABEL: gir.kernel @rows_row0(
// CHECK: gir.index #[[BACK]](%{{.*}}, %x_0)
func.func @rows(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %y = graph.slice %x {axes = array<i64: 0>, ends = array<i64: -9223372036854775807>, starts = array<i64: -1>, steps = array<i64: -1>}
      : tensor<?x64xf32> -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// The last columns, of which the ranges say that there are as many.
// CHECK-LABEL: gir.kernel @last_row0(
// CHECK-SAME: %N : [3, 5000]
// CHECK: gir.load %{{[0-9]+}} :
func.func @last(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x3xf32> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" {range = [3, 5000]} : index
  %y = graph.slice %x {axes = array<i64: 1>, ends = array<i64: 9223372036854775807>, starts = array<i64: -3>, steps = array<i64: 1>}
      : tensor<?x?xf32, #dyn.shape<[M, N]>> -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}
