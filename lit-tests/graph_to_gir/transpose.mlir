// RUN: sutura-opt %s --stitch --convert-graph-to-gir | FileCheck %s
// RUN: sutura-opt %s --stitch --convert-graph-to-gir | sutura-opt --convert-graph-to-gir | FileCheck %s
// RUN: sutura-opt %s --stitch --convert-graph-to-gir --threads=1 -o %t.one
// RUN: sutura-opt %s --stitch --convert-graph-to-gir --threads=8 -o %t.many
// RUN: diff %t.one %t.many
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx2},func.func(stitch),convert-graph-to-gir)' | FileCheck %s --check-prefix=AVX2

!matrix = tensor<?x?xf32, #dyn.shape<[M, N]>>
!turned = tensor<?x?xf32, #dyn.shape<[N, M]>>
#id = affine_map<(d0, d1) -> (d0, d1)>
#swap = affine_map<(d0, d1) -> (d1, d0)>

// Blocks of 4 by 4 tiles of 16 by 16, which the nearest cache holds twice over; few rows or columns go without.
// CHECK-LABEL: gir.kernel @main_row0
// CHECK-SAME: requires([N - 8, M - 8])
// CHECK-SAME: grid(%{{.*}} = (N + 63) floordiv 64, %{{.*}} = (M + 63) floordiv 64) units(1)
// CHECK: gir.for %{{.*}} = %c0 to %c4
// CHECK: gir.for %{{.*}} = %c0 to %c4
// CHECK: %[[X:.*]] = gir.load {{.*}} -> !gir.tile<vec, f32, [16, 16]>
// CHECK: gir.transpose
// CHECK: gir.store
// CHECK-LABEL: gir.kernel @main_row1
// CHECK-NOT: gir.transpose
// CHECK: gir.store
// CHECK: select if [N - 8, M - 8] {

// Tiles are as wide as the machine's vectors.
// AVX2-LABEL: gir.kernel @main_row0
// AVX2-SAME: requires([N - 4, M - 4])
// AVX2: gir.transpose %{{.*}} : !gir.tile<vec, f32, [8, 8]>
func.func @main(%x: !matrix) -> !turned {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%x : !matrix) -> !turned {iterators = #graph.iterators<[parallel, parallel]>, maps = [#swap, #id]} {
  ^bb0(%a: f32):
    %v = arith.negf %a : f32
    graph.yield %v : f32
  }
  return %y : !turned
}
