// A right factor whose numbers lie side by side along the sum is packed in tiles that are turned in registers: by the groups of few rows,
// or before the product.

// RUN: sutura-opt %s --schedule-regions | FileCheck %s
// RUN: sutura-opt %s --convert-graph-to-gir | FileCheck %s --check-prefix=GIR
// RUN: sutura-opt %s --convert-graph-to-gir --check-passes --strict -o /dev/null
// RUN: sutura-opt %s --convert-graph-to-gir --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=SAID

// SAID: remark: groups pack panels near, each for a block of 192 rows where -K + 4096 >= 0 and -M + 384 >= 0

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

!a = tensor<?x?xf32, #dyn.shape<[M, K]>>
!b = tensor<?x?xf32, #dyn.shape<[N, K]>>
!c = tensor<?x?xf32, #dyn.shape<[M, N]>>

// CHECK-LABEL: func.func @product
// CHECK: version when [-K + 4096, -M + 384] {
// CHECK: cache c:0.1 cols d1 in l1 padded {
// CHECK-NEXT: loop d2 by 16 { operand c:0.1 rows d2 cols d1 in vec padded }
// CHECK: loop d2 by 16 { pack c:0.1 rows d2 cols d1 in vec padded }

// GIR-LABEL: gir.kernel @product_contract0(
// GIR: %[[PANEL:.*]] = gir.alloc owner("unit") : !gir.view<l1, f32, [4096, 32]>
// GIR: %[[NEAR:.*]] = gir.transpose
// GIR: gir.store %[[NEAR]], %{{.*}} : !gir.tile<vec, f32, [16, 32]>, !gir.slice<l1, f32, [16, 32]>

// The panel has a row for each place of the sum, also where the last tile has fewer.
// GIR-LABEL: gir.kernel @product_contract1(
// GIR-SAME: !gir.view<dram, f32, [(N + 31) floordiv 32, K, 32]> out)
// GIR: gir.load %{{.*}} pad(0.000000e+00 : f32) : !gir.slice<dram, f32, [32, 16]> -> !gir.tile<vec, f32, [32, 16]>
// GIR: %[[TURNED:.*]] = gir.transpose
// GIR: gir.store %[[TURNED]], %{{.*}} : !gir.tile<vec, f32, [16, 32]>, !gir.slice<dram, f32, [16, 32]>
func.func @product(%a: !a, %b: !b) -> !c {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %K = dyn.symbol "K" : index
  %r = graph.fusion(%a, %b : !a, !b) -> !c {
  ^bb0(%i: !a, %j: !b):
    %c = graph.compute ins(%i, %j : !a, !b) -> !c {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#a, #b, #c]} {
    ^bb0(%e: f32, %f: f32):
      %p = arith.mulf %e, %f : f32
      graph.yield %p : f32
    }
    graph.yield %c : !c
  }
  return %r : !c
}
