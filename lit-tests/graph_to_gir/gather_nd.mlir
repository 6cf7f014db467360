// RUN: sutura-opt %s --propagate-shapes --stitch --convert-graph-to-gir --canonicalize --cse | FileCheck %s

!data = tensor<?x?x?xf32, #dyn.shape<[B, S, H]>>
!places = tensor<?x2xi64, #dyn.shape<[K, 2]>>

// Two indices of one place, and a row of columns there. Where a dimension may be empty, nothing is read.
// CHECK-LABEL: gir.kernel @rows_row0(
// CHECK-SAME: grid(%[[K:.*]] = K)
// CHECK: gir.slice %{{.*}}[%[[K]], %c0]
// CHECK: %[[B:.*]] = gir.pick "graph.gather_nd 'rows'" %{{.*}} below %B at %{{.*}}
// CHECK: gir.slice %{{.*}}[%[[K]], %c1]
// CHECK: %[[S:.*]] = gir.pick "graph.gather_nd 'rows'" %{{.*}} below %S at %{{.*}}
// CHECK: gir.slice %{{.*}}[%[[B]], %[[S]], %c0] cols(2) clips(0, 1)
func.func @rows(%x: !data, %i: !places) -> tensor<?x?xf32> {
  %y = graph.gather_nd %x, %i : !data, !places -> tensor<?x?xf32> loc("rows")
  return %y : tensor<?x?xf32>
}

// Where none is, each is an index of its own.
// CHECK-LABEL: gir.kernel @some_row0(
// CHECK: %[[B:.*]] = gir.pick
// CHECK: %[[S:.*]] = gir.pick
// CHECK-NOT: gir.identity
// CHECK: gir.slice %{{.*}}[%[[B]], %[[S]], %{{.*}}] cols(2)
func.func @some(%x: !data, %i: !places) -> tensor<?x?xf32> {
  %B = dyn.symbol "B" {range = [1, 64]} : index
  %S = dyn.symbol "S" {range = [1, 512]} : index
  %H = dyn.symbol "H" : index
  %K = dyn.symbol "K" : index
  %y = graph.gather_nd %x, %i : !data, !places -> tensor<?x?xf32> loc("rows")
  return %y : tensor<?x?xf32>
}

// Batches are common to both; single elements are read one by one.
// CHECK-LABEL: gir.kernel @batches_loop
// CHECK: gir.slice %{{.*}}[%[[B:.*]], %[[K:.*]], %c0]
// CHECK: %[[S:.*]] = gir.pick "graph.gather_nd 'marks'"
// CHECK: %[[H:.*]] = gir.pick "graph.gather_nd 'marks'"
// CHECK: gir.slice %{{.*}}[%[[B]], %[[S]], %[[H]]]
func.func @batches(%x: tensor<?x4x5xf32, #dyn.shape<[B, 4, 5]>>, %i: tensor<?x?x2xi32, #dyn.shape<[B, K, 2]>>) -> tensor<?x?xf32> {
  %y = graph.gather_nd %x, %i {batch_dims = 1 : i64}
      : tensor<?x4x5xf32, #dyn.shape<[B, 4, 5]>>, tensor<?x?x2xi32, #dyn.shape<[B, K, 2]>> -> tensor<?x?xf32> loc("marks")
  return %y : tensor<?x?xf32>
}
