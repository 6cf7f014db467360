// RUN: standalone-opt %s --stitch --four-rows | FileCheck %s
// RUN: standalone-opt %s --stitch --four-rows --convert-graph-to-gir | FileCheck %s --check-prefix=GIR
// RUN: standalone-opt %s --stitch --four-rows --convert-graph-to-gir --check-passes --strict -o /dev/null

!x = tensor<?x?xf32, #dyn.shape<[M, N]>>
#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The rule of this crate writes the schedule, and the compiler proves and follows it.
// CHECK-LABEL: func.func @elementwise
// CHECK: schedule = #schedule.tree<
// CHECK: loop d0 by 4 grid {
// CHECK-NEXT: loop d0 {
// CHECK-NEXT: place "":0 cols d1 in l1
// CHECK-NEXT: place "":1 cols d1 in l1
// GIR-LABEL: gir.kernel @elementwise_row0(
// GIR-SAME: grid(%[[GROUP:.*]] = (M + 3) floordiv 4)
// GIR: gir.for %[[ROW:.*]] = %{{.*}} to %{{.*}} {
// GIR: gir.slice %{{.*}}[%[[ROW]], %c0] cols(1)
// GIR: gir.unary "exp"
// GIR: gir.unary "neg"
// GIR: rt.program @elementwise
func.func @elementwise(%x: !x) -> !x {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %a = graph.compute ins(%x : !x) -> !x {iterators = #graph.iterators<[parallel, parallel]>, maps = [#all, #all]} {
  ^bb0(%e: f32):
    %0 = math.exp %e : f32
    graph.yield %0 : f32
  }
  %b = graph.compute ins(%a : !x) -> !x {iterators = #graph.iterators<[parallel, parallel]>, maps = [#all, #all]} {
  ^bb0(%e: f32):
    %0 = arith.negf %e : f32
    graph.yield %0 : f32
  }
  return %b : !x
}

// A region that combines something is left to the compiler's own rules.
// CHECK-LABEL: func.func @sums
// CHECK-NOT: schedule =
func.func @sums(%x: !x) -> tensor<?xf32, #dyn.shape<[M]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %s = graph.compute ins(%x : !x) -> tensor<?xf32, #dyn.shape<[M]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#all, #row]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  return %s : tensor<?xf32, #dyn.shape<[M]>>
}
