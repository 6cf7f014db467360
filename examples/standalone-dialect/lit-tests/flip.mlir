// RUN: standalone-opt %s --propagate-shapes --stitch | FileCheck %s
// RUN: standalone-opt %s --propagate-shapes --stitch --convert-graph-to-gir | FileCheck %s --check-prefix=GIR

!x = tensor<?x20xf32, #dyn.shape<[N, 20]>>
#rows = affine_map<(d0, d1) -> (d0, d1)>

// The op of this dialect and its neighbours are one region, and one kernel: nothing in between is kept in memory.
// CHECK-LABEL: func.func @between
// CHECK: graph.fusion(%x : {{.*}} {
// CHECK: graph.compute
// CHECK: sat.flip
// CHECK: graph.compute
// CHECK-NOT: graph.fusion
// GIR-COUNT-1: gir.kernel
// GIR: %[[ROW:.*]] = gir.index {{.*}}(%{{.*}}, %N)
// GIR: gir.slice %{{.*}}[%[[ROW]], %{{.*}}] cols(1)
// GIR: gir.unary "neg"
// GIR: gir.unary "abs"
// GIR-NOT: gir.kernel
func.func @between(%x: !x) -> !x {
  %a = graph.compute ins(%x : !x) -> !x {iterators = #graph.iterators<[parallel, parallel]>, maps = [#rows, #rows]} {
  ^bb0(%e: f32):
    %0 = arith.negf %e : f32
    graph.yield %0 : f32
  }
  %f = sat.flip %a : !x
  %b = graph.compute ins(%f : !x) -> !x {iterators = #graph.iterators<[parallel, parallel]>, maps = [#rows, #rows]} {
  ^bb0(%e: f32):
    %0 = math.absf %e : f32
    graph.yield %0 : f32
  }
  return %b : !x
}
