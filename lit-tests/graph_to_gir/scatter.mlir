// RUN: sutura-opt %s --propagate-shapes --stitch --convert-graph-to-gir | FileCheck %s
// RUN: sutura-opt %s --propagate-shapes --stitch | FileCheck %s --check-prefix=PLAN

!x = tensor<?x30xf32, #dyn.shape<[B, 30]>>
!i = tensor<?x?xi64, #dyn.shape<[B, K]>>
!u = tensor<?x?xf32, #dyn.shape<[B, K]>>

// Rows do not meet: there is a group for each. Updates of a row come in order, over a copy of the data. Nothing else goes into
// the kernel, and nothing that is written at indices is read by what stands in it.
// PLAN-LABEL: func.func @elements
// PLAN-COUNT-3: graph.fusion
// CHECK-LABEL: gir.kernel @elements_loop1(
// CHECK-SAME: !gir.view<dram, f32, [B, 30]> inout
// CHECK-SAME: grid(%[[B:.*]] = B)
// CHECK: gir.for %[[K:.*]] = %c0 to %K {
// CHECK: %[[AT:.*]] = gir.pick "graph.scatter 'sums'" %{{.*}} below %c30
// CHECK: %[[PLACE:.*]] = gir.slice %{{.*}}[%[[B]], %[[AT]]]
// CHECK: gir.load %[[PLACE]]
// CHECK: gir.binary "add"
// CHECK: gir.store
// CHECK: rt.program @elements
// CHECK: copy
// CHECK: launch @elements_loop1
func.func @elements(%x: !x, %i: !i, %u: !u) -> !x {
  %B = dyn.symbol "B" : index
  %K = dyn.symbol "K" : index
  %n = graph.compute ins(%u : !u) -> !u {iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]} {
  ^bb0(%e: f32):
    %0 = arith.negf %e : f32
    graph.yield %0 : f32
  }
  %y = graph.scatter %x, %i, %n {axis = 1 : i64, combiner = #graph.combiner<add>} : !x, !i, !u -> !x loc("sums")
  %z = graph.compute ins(%y : !x) -> !x {iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]} {
  ^bb0(%e: f32):
    %0 = arith.negf %e : f32
    graph.yield %0 : f32
  }
  return %z : !x
}

// Rows of columns: a group has a tile of columns of all rows.
// CHECK-LABEL: gir.kernel @rows_loop0(
// CHECK-SAME: grid(%[[TILE:.*]] = 4)
// CHECK: gir.for %{{.*}} = %c0 to %K {
// CHECK: %[[AT:.*]] = gir.pick
// CHECK: gir.slice %{{.*}}[%[[AT]], %{{.*}}] cols(1) : !gir.view<dram, f32, [9, 256]> -> !gir.slice<dram, f32, [1, 64]>
// CHECK: gir.store
func.func @rows(%x: tensor<9x256xf32>, %i: tensor<?x1xi64, #dyn.shape<[K, 1]>>, %u: tensor<?x256xf32, #dyn.shape<[K, 256]>>) -> tensor<9x256xf32> {
  %y = graph.scatter %x, %i, %u : tensor<9x256xf32>, tensor<?x1xi64, #dyn.shape<[K, 1]>>, tensor<?x256xf32, #dyn.shape<[K, 256]>> -> tensor<9x256xf32>
  return %y : tensor<9x256xf32>
}

// There may be nothing to pick of: then nothing is written.
// CHECK-LABEL: gir.kernel @empty_loop{{[0-9]+}}(
// CHECK: gir.pick
// CHECK: gir.slice %{{.*}}[%{{.*}}, %{{.*}}] cols(1) clips(0)
func.func @empty(%x: tensor<?x8xf32, #dyn.shape<[N, 8]>>, %i: tensor<5x1xi64>, %u: tensor<5x8xf32>) -> tensor<?x8xf32, #dyn.shape<[N, 8]>> {
  %y = graph.scatter %x, %i, %u : tensor<?x8xf32, #dyn.shape<[N, 8]>>, tensor<5x1xi64>, tensor<5x8xf32> -> tensor<?x8xf32, #dyn.shape<[N, 8]>>
  return %y : tensor<?x8xf32, #dyn.shape<[N, 8]>>
}

// That there are no more updates than elements is checked by the host, and the kernel requires it.
// CHECK-LABEL: gir.kernel @fewer_loop{{[0-9]+}}(
// CHECK-SAME: requires([-M + N])
// CHECK: rt.program @fewer
// CHECK-SAME: checks = [{kind = "at_least"
func.func @fewer(%x: tensor<?x8xf32, #dyn.shape<[N, 8]>>, %i: tensor<?x5xi64, #dyn.shape<[M, 5]>>, %u: tensor<?x5xf32, #dyn.shape<[M, 5]>>) -> tensor<?x8xf32, #dyn.shape<[N, 8]>> {
  %y = graph.scatter %x, %i, %u {axis = 1 : i64} : tensor<?x8xf32, #dyn.shape<[N, 8]>>, tensor<?x5xi64, #dyn.shape<[M, 5]>>, tensor<?x5xf32, #dyn.shape<[M, 5]>> -> tensor<?x8xf32, #dyn.shape<[N, 8]>>
  return %y : tensor<?x8xf32, #dyn.shape<[N, 8]>>
}
