// The path from the graph to kernels for a machine: its tile, its intrinsic, then its vectors.

// DEFINE: %{kernels} = func.func(canonicalize,stitch),convert-graph-to-gir,tensorize,fold-launches,canonicalize,cse
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx512},%{kernels})' | FileCheck %s --check-prefixes=ALL,AVX512
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx2},%{kernels})' | FileCheck %s --check-prefixes=ALL,AVX2
// RUN: sutura-opt %s --pass-pipeline='builtin.module(%{kernels})' | FileCheck %s --check-prefix=NONE

// A tile takes the time of those rows that exist, so few rows need no lower one. One row has a version in which the right factor goes by
// once, few rows have one in which it is read as it lies, and groups of more pack their panels. Panels of 16 columns divide the 48, so the
// second machine reads all rows of a panel as they lie. Ten columns are inner products there: tiles of 16 would compute six in vain.
// AVX512-LABEL: gir.kernel @main_contract0
// AVX512-SAME: requires([-M + 1]) grid(%{{.*}} = M, %{{.*}} = 1)
// AVX512-LABEL: gir.kernel @main_contract1
// AVX512-SAME: requires([-M + 12]) grid(%{{.*}} = 2, %{{.*}} = (M + 11) floordiv 12)
// AVX512: gir.intrinsic @fma_f32_12x32(
// AVX512-LABEL: gir.kernel @main_contract2
// AVX512-SAME: grid(%{{.*}} = 2, %{{.*}} = (M + 191) floordiv 192)
// AVX512: gir.intrinsic @fma_f32_12x32(
// AVX512-LABEL: gir.kernel @main_contract5
// AVX512-SAME: grid(%{{.*}} = 1, %{{.*}} = (M + 191) floordiv 192)
// AVX512: gir.intrinsic @fma_f32_12x16(
// AVX2-LABEL: gir.kernel @main_contract0
// AVX2-SAME: requires([-M + 1])
// AVX2-LABEL: gir.kernel @main_contract1
// AVX2-SAME: grid(%{{.*}} = 3, %{{.*}} = (M + 5) floordiv 6)
// AVX2: gir.intrinsic @fma_f32_6x16(
// AVX2-LABEL: gir.kernel @main_contract2
// AVX2: gir.reduce "add" "cols" %{{.*}} : !gir.tile<vec, f32, [10, 8]>
// ALL-NOT: gir.contract
// ALL: rt.program @main

// NONE-NOT: gir.intrinsic
// NONE: gir.contract {{.*}} !gir.tile<vec, f32, [12, 32]>
// NONE: gir.contract {{.*}} !gir.tile<vec, f32, [12, 16]>

// Options go before the machine.
// DEFINE: %{rows} = builtin.module(attach-target{name=x86_avx512},func.func(canonicalize,stitch),convert-graph-to-gir{tile-rows=5},tensorize)
// RUN: sutura-opt %s --pass-pipeline='%{rows}' | FileCheck %s --check-prefix=ROWS
// ROWS: gir.contract {{.*}} !gir.tile<vec, f32, [5, 32]>

// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx2},%{kernels},convert-gir-to-cpu)' | FileCheck %s --check-prefix=YMM
// YMM: math.fma {{.*}} : vector<8xf32>
// YMM-NOT: vector<16xf32>
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx2},%{kernels},convert-gir-to-cpu{vector-bytes=16})' | FileCheck %s --check-prefix=XMM
// XMM: math.fma {{.*}} : vector<4xf32>
// XMM-NOT: vector<8xf32>
// RUN: sutura-opt %s --pass-pipeline='builtin.module(%{kernels},convert-gir-to-cpu)' | FileCheck %s --check-prefix=ZMM
// ZMM: math.fma {{.*}} : vector<16xf32>

func.func @main(%x: tensor<?x64xf32, #dyn.shape<[M, 64]>>, %w: tensor<64x48xf32>, %v: tensor<48x10xf32>)
    -> tensor<?x10xf32, #dyn.shape<[M, 10]>> {
  %M = dyn.symbol "M" {range = [0, 4096]} : index
  %h = graph.compute ins(%x, %w : tensor<?x64xf32, #dyn.shape<[M, 64]>>, tensor<64x48xf32>) -> tensor<?x48xf32, #dyn.shape<[M, 48]>> {
    iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>,
    maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>]
  } {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    graph.yield %p : f32
  }
  %y = graph.compute ins(%h, %v : tensor<?x48xf32, #dyn.shape<[M, 48]>>, tensor<48x10xf32>) -> tensor<?x10xf32, #dyn.shape<[M, 10]>> {
    iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>,
    maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>]
  } {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    graph.yield %p : f32
  }
  return %y : tensor<?x10xf32, #dyn.shape<[M, 10]>>
}
