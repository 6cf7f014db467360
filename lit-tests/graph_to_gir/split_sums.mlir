// A long sum of a small product is cut in parts of 1024 places, which groups have; another launch adds them up in their order.

// DEFINE: %{regions} = attach-target{name=x86_avx512},func.func(stitch)
// RUN: sutura-opt %s --pass-pipeline='builtin.module(%{regions},schedule-regions)' | FileCheck %s --check-prefix=SCHEDULE
// RUN: sutura-opt %s --pass-pipeline='builtin.module(%{regions},convert-graph-to-gir)' --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=SAID
// RUN: sutura-opt %s --pass-pipeline='builtin.module(%{regions},convert-graph-to-gir)' | FileCheck %s
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=sm_80},func.func(stitch),convert-graph-to-gir)' | FileCheck %s --check-prefix=GPU

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#col = affine_map<(m, n) -> (n)>

// The last part has 54 places. What follows the product runs where parts are added up.
// SCHEDULE-LABEL: func.func @biased
// SCHEDULE: loop d2 by 1024 grid {
// SCHEDULE-NEXT: loop d1 by 32 grid {
// SCHEDULE-NEXT: loop d0 by 9 grid {
// SCHEDULE-NEXT: loop d2 { contract p:0 rows d0 cols d1 in vec }
// SCHEDULE: kernel {
// SCHEDULE-NEXT: loop d0 grid {
// SCHEDULE-NEXT: loop d1 by 128 grid {
// SCHEDULE-NEXT: join p:0 cols d1 in vec
// SCHEDULE-NEXT: place y:1 cols d1 in vec
// SAID: remark: groups have 1024 of 4150 places of a sum each, whose parts are added up in order
// CHECK-LABEL: gir.kernel @biased_contract0(
// CHECK-SAME: !gir.view<dram, f32, [5, 9, 120]> out) dims() grid(%{{.*}} = 5, %{{.*}} = 4, %{{.*}} = 1)
// CHECK-LABEL: gir.kernel @biased_contract1(
// CHECK: gir.for
// CHECK: gir.binary "add"
// GPU-LABEL: gir.kernel @biased_contract0(
// GPU-NOT: f32, [5, 9, 120]
// GPU-LABEL: rt.program @biased
func.func @biased(%a: tensor<9x4150xf32>, %b: tensor<4150x120xf32>, %bias: tensor<120xf32>) -> tensor<9x120xf32> {
  %p = graph.compute ins(%a, %b : tensor<9x4150xf32>, tensor<4150x120xf32>) -> tensor<9x120xf32> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#a, #b, #c]} {
  ^bb0(%l: f32, %r: f32):
    %m = arith.mulf %l, %r : f32
    graph.yield %m : f32
  }
  %y = graph.compute ins(%p, %bias : tensor<9x120xf32>, tensor<120xf32>) -> tensor<9x120xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #col, #id]} {
  ^bb0(%l: f32, %r: f32):
    %s = arith.addf %l, %r : f32
    graph.yield %s : f32
  }
  return %y : tensor<9x120xf32>
}

// Factors exchange their part, as there are seven columns: parts of the sum lie as the result does, so tiles are stored turned.
// CHECK-LABEL: gir.kernel @turned_contract0(
// CHECK-SAME: !gir.view<dram, f32, [5, 160, 7]> out)
// CHECK: gir.alloc owner("unit") : !gir.view<l1, f32, [1024, 32]>
// CHECK: gir.contract {{.*}} !gir.tile<vec, f32, [7, 32]>
// CHECK: gir.transpose
// CHECK: gir.store
func.func @turned(%a: tensor<160x4100xf32>, %b: tensor<7x4100xf32>) -> tensor<160x7xf32> {
  %p = graph.compute ins(%a, %b : tensor<160x4100xf32>, tensor<7x4100xf32>) -> tensor<160x7xf32> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#a, #bt, #c]} {
  ^bb0(%l: f32, %r: f32):
    %m = arith.mulf %l, %r : f32
    graph.yield %m : f32
  }
  return %p : tensor<160x7xf32>
}
