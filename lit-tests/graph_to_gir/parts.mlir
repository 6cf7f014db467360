// RUN: sutura-opt %s --stitch --convert-graph-to-gir=parts=4 | FileCheck %s
// RUN: sutura-opt %s --stitch --convert-graph-to-gir=parts=4 | sutura-opt --convert-graph-to-gir | FileCheck %s

!matrix = tensor<?x?xf32, #dyn.shape<[M, N]>>
!row = tensor<?xf32, #dyn.shape<[N]>>
#id = affine_map<(d0, d1) -> (d0, d1)>
#second = affine_map<(d0, d1) -> (d1)>

// Sums of columns, and what follows: parts of many rows, written to a temporary and joined in order by a second kernel;
// few rows in one kernel. Either with narrow tiles where there are few columns.
// CHECK-LABEL: gir.kernel @means_row0(
// CHECK-SAME: [4, N]> out)
// CHECK-SAME: requires([M - 64, -N + 16])
// CHECK-SAME: grid(%[[P:.*]] = 4, %{{.*}} = (N + 15) floordiv 16)
// CHECK-DAG: %[[LO:.*]] = gir.index #{{.*}}(%[[P]], %M)
// CHECK: gir.for %{{.*}} carry({{.*}}) : !gir.tile<vec, f32, [1, 16]>
// CHECK-LABEL: gir.kernel @means_row1(
// CHECK-SAME: [4, N]> in
// CHECK: gir.for
// CHECK: gir.unary "neg"
// CHECK: gir.store
// CHECK-LABEL: gir.kernel @means_row2(
// CHECK-LABEL: gir.kernel @means_row3(
// CHECK-SAME: requires([M - 64, -N + 64])
// CHECK-SAME: (N + 63) floordiv 64)
// CHECK: gir.for %{{.*}} carry({{.*}}) : !gir.tile<vec, f32, [1, 64]>
// CHECK-LABEL: rt.program @means
// CHECK: %[[T:.*]] = alloc : !rt.buffer<f32, [4, N]>
// CHECK: select if [M - 64, -N + 16], [-N + 16], [M - 64, -N + 64], [-N + 64], [M - 64] {
// CHECK-NEXT: launch @means_row0(%{{.*}}, %[[T]])
// CHECK-NEXT: launch @means_row1(%[[T]], %{{.*}})
// CHECK-NEXT: }, {
// CHECK-NEXT: launch @means_row2
func.func @means(%x: !matrix) -> !row {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %sum = graph.compute ins(%x : !matrix) -> !row {iterators = #graph.iterators<[reduce, parallel]>, combiners = #graph.combiners<[add]>, maps = [#id, #second]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %y = graph.compute ins(%sum : !row) -> !row {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
  ^bb0(%a: f32):
    %v = arith.negf %a : f32
    graph.yield %v : f32
  }
  return %y : !row
}
