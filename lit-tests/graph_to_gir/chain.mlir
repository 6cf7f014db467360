// RUN: sutura-opt %s --split-input-file --pass-pipeline='builtin.module(attach-target{name=x86_avx512},func.func(stitch),convert-graph-to-gir)' | FileCheck %s
// RUN: sutura-opt %s --split-input-file --check-passes --pass-pipeline='builtin.module(attach-target{name=x86_avx2},func.func(stitch),convert-graph-to-gir,func.func(canonicalize,cse))' | FileCheck %s --check-prefix=AVX2
// RUN: sutura-opt %s --split-input-file --remarks --pass-pipeline='builtin.module(attach-target{name=x86_avx512},func.func(stitch),convert-graph-to-gir)' 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: sutura-opt %s --split-input-file --pass-pipeline='builtin.module(attach-target{name=sm_80},func.func(stitch),convert-graph-to-gir)' | FileCheck %s --check-prefix=GPU

// Of a product of pixels a depthwise convolution reads the results: a group makes near what its lines need, by tiles of the product, and
// moves the window over it. Lines outside are not made: they are zero.
#pixel = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
#weight = affine_map<(d0, d1, d2, d3, d4) -> (d4, d3)>
#made = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#around = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 + d4 - 1, d2 + d5 - 1, d3)>
#tap = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5, d3)>
#out = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>

// CHECK-LABEL: gir.kernel @pointwise_chain1(
// CHECK-SAME: [1, 14, 14, 24]> in, %[[TAPS:[a-z0-9]+]] : !gir.view<dram, f32, [3, 3, 384]> in, {{.*}} grid(%{{[a-z0-9]+}} = 1, %{{[a-z0-9]+}} = 1, %{{[a-z0-9]+}} = 12)
// CHECK: %[[NEAR:.*]] = gir.alloc owner("unit") : !gir.view<l1, f32, [16, 16, 32]>
// CHECK: gir.for %{{.*}} = %[[FIRST:.*]] to %[[END:.*]] {
// CHECK: gir.contract {{.*}} !gir.tile<vec, f32, [7, 32]>
// CHECK: gir.binary "max"
// CHECK: %[[MADE:.*]] = gir.slice %[[NEAR]][{{.*}}] rows(1) cols(2) : {{.*}} -> !gir.slice<l1, f32, [7, 32]>
// CHECK: gir.store %{{.*}}, %[[MADE]]
// CHECK: gir.for %{{.*}} = %c0 to %[[FIRST]] {
// CHECK: gir.fill 0.000000e+00 : f32 : !gir.tile<l1, f32, [1, 32]>
// CHECK: gir.for %{{.*}} = %[[END]] to %c16 {
// CHECK: gir.for %{{.*}} = %c0 to %c3 carry
// CHECK: gir.for %{{.*}} = %c0 to %c3 carry
// CHECK: gir.slice %[[NEAR]][{{.*}}] rows(1) cols(2) : {{.*}} -> !gir.slice<l1, f32, [7, 32]>
// CHECK: gir.slice %[[TAPS]]
// CHECK-NOT: gir.kernel @pointwise
// AVX2-LABEL: gir.kernel @pointwise_chain1(
// AVX2-NOT: gir.kernel @pointwise
// REMARK: remark: is a product whose results a window reads: rows (1, 14, 14), columns (384), sums over (24); then batch (1), rows (14, 14), columns (384), sums over (3, 3); a group makes near what 14 lines of 14 results in 32 columns need
// GPU-NOT: _chain
// GPU: rt.program @pointwise
func.func @pointwise(%x: tensor<1x14x14x24xf32>, %w: tensor<24x384xf32>, %d: tensor<3x3x384xf32>) -> tensor<1x14x14x384xf32> {
  %c = graph.compute ins(%x, %w : tensor<1x14x14x24xf32>, tensor<24x384xf32>) -> tensor<1x14x14x384xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>,
    combiners = #graph.combiners<[add]>, maps = [#pixel, #weight, #made]
  } {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  %r = graph.compute ins(%c : tensor<1x14x14x384xf32>) -> tensor<1x14x14x384xf32> {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %zero = arith.constant 0.0 : f32
    %v = arith.maximumf %a, %zero : f32
    graph.yield %v : f32
  }
  %e = graph.compute ins(%r, %d : tensor<1x14x14x384xf32>, tensor<3x3x384xf32>) -> tensor<1x14x14x384xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce]>,
    combiners = #graph.combiners<[add]>, maps = [#around, #tap, #out], oob = [0.0 : f32, unit]
  } {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  %y = graph.compute ins(%e : tensor<1x14x14x384xf32>) -> tensor<1x14x14x384xf32> {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %zero = arith.constant 0.0 : f32
    %v = arith.maximumf %a, %zero : f32
    graph.yield %v : f32
  }
  return %y : tensor<1x14x14x384xf32>
}

// -----

// What is used outside too is made in memory.
#pixel = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
#weight = affine_map<(d0, d1, d2, d3, d4) -> (d4, d3)>
#made = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#around = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 + d4 - 1, d2 + d5 - 1, d3)>
#tap = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5, d3)>
#out = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>

// CHECK-LABEL: gir.kernel @outside_contract
// CHECK: gir.kernel @outside_window
// REMARK: remark: not stitched with %r: %r is used outside, and would be made in part by several groups (
func.func @outside(%x: tensor<1x14x14x24xf32>, %w: tensor<24x384xf32>, %d: tensor<3x3x384xf32>) -> (tensor<1x14x14x384xf32>, tensor<1x14x14x384xf32>) {
  %c = graph.compute ins(%x, %w : tensor<1x14x14x24xf32>, tensor<24x384xf32>) -> tensor<1x14x14x384xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>,
    combiners = #graph.combiners<[add]>, maps = [#pixel, #weight, #made]
  } {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  %r = graph.compute ins(%c : tensor<1x14x14x384xf32>) -> tensor<1x14x14x384xf32> {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %zero = arith.constant 0.0 : f32
    %v = arith.maximumf %a, %zero : f32
    graph.yield %v : f32
  }
  %e = graph.compute ins(%r, %d : tensor<1x14x14x384xf32>, tensor<3x3x384xf32>) -> tensor<1x14x14x384xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce]>,
    combiners = #graph.combiners<[add]>, maps = [#around, #tap, #out], oob = [0.0 : f32, unit]
  } {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  return %r, %e : tensor<1x14x14x384xf32>, tensor<1x14x14x384xf32>
}

// -----

// Sizes of the map are open: a group has tiles of a line, and no more of them than there are.
#pixel = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
#weight = affine_map<(d0, d1, d2, d3, d4) -> (d4, d3)>
#made = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#around = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 + d4 - 1, d2 + d5 - 1, d3)>
#tap = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5, d3)>
#out = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>

// CHECK-LABEL: gir.kernel @open_chain1(
// CHECK: gir.alloc owner("unit") : !gir.view<l1, f32, [
// CHECK: gir.contract
// CHECK-NOT: gir.kernel @open
// AVX2-LABEL: gir.kernel @open_chain1(
// AVX2-NOT: gir.kernel @open
// REMARK: remark: is a product whose results a window reads: rows (1, H, W)
func.func @open(%x: tensor<1x?x?x8xf32, #dyn.shape<[1, H, W, 8]>>, %w: tensor<8x96xf32>, %d: tensor<3x3x96xf32>) -> tensor<1x?x?x96xf32, #dyn.shape<[1, H, W, 96]>> {
  %H = dyn.symbol "H" {range = [1, 128]} : index
  %W = dyn.symbol "W" {range = [1, 128]} : index
  %c = graph.compute ins(%x, %w : tensor<1x?x?x8xf32, #dyn.shape<[1, H, W, 8]>>, tensor<8x96xf32>) -> tensor<1x?x?x96xf32, #dyn.shape<[1, H, W, 96]>> {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>,
    combiners = #graph.combiners<[add]>, maps = [#pixel, #weight, #made]
  } {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  %e = graph.compute ins(%c, %d : tensor<1x?x?x96xf32, #dyn.shape<[1, H, W, 96]>>, tensor<3x3x96xf32>) -> tensor<1x?x?x96xf32, #dyn.shape<[1, H, W, 96]>> {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce]>,
    combiners = #graph.combiners<[add]>, maps = [#around, #tap, #out], oob = [0.0 : f32, unit]
  } {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  return %e : tensor<1x?x?x96xf32, #dyn.shape<[1, H, W, 96]>>
}

// -----

// A pool behind a convolution: the group brings near what the windows of the convolution cover, and makes the lines that the pool reads.
#x = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4 - 1, d2 + d5 - 1, d6)>
#w = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5, d6, d3)>
#c = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
#two = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 * 2 + d4, d2 * 2 + d5, d3)>
#places = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5)>
#out = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>

// CHECK-LABEL: gir.kernel @pooled_chain1(
// CHECK: gir.alloc owner("unit") : !gir.view<l1, f32, [10,
// CHECK: %[[NEAR:.*]] = gir.alloc owner("unit") : !gir.view<l1, f32, [8, 228, 32]>
// CHECK: gir.contract
// CHECK: gir.binary "max"
// CHECK: gir.store {{.*}} !gir.slice<l1, f32, [12, 32]>
// CHECK: gir.slice %[[NEAR]][{{.*}}] rows(1) by 2 cols(2)
// CHECK-NOT: gir.kernel @pooled
// REMARK: remark: is a convolution whose results a window reads
func.func @pooled(%x: tensor<1x224x224x16xf32>, %w: tensor<3x3x16x32xf32>, %places: tensor<2x2xi1>) -> tensor<1x112x112x32xf32> {
  %c = graph.compute ins(%x, %w : tensor<1x224x224x16xf32>, tensor<3x3x16x32xf32>) -> tensor<1x224x224x32xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>,
    combiners = #graph.combiners<[add]>, maps = [#x, #w, #c], oob = [0.0 : f32, unit]
  } {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  %r = graph.compute ins(%c : tensor<1x224x224x32xf32>) -> tensor<1x224x224x32xf32> {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %zero = arith.constant 0.0 : f32
    %v = arith.maximumf %a, %zero : f32
    graph.yield %v : f32
  }
  %y = graph.compute ins(%r, %places : tensor<1x224x224x32xf32>, tensor<2x2xi1>) -> tensor<1x112x112x32xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce]>,
    combiners = #graph.combiners<[max]>, maps = [#two, #places, #out]
  } {
  ^bb0(%a: f32, %place: i1):
    graph.yield %a : f32
  }
  return %y : tensor<1x112x112x32xf32>
}

// -----

// A pool without padding: the last tile of its results reads beyond the map, where zeros lie that nobody looks at.
#pixel = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
#weight = affine_map<(d0, d1, d2, d3, d4) -> (d4, d3)>
#made = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#two = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 * 2 + d4, d2 * 2 + d5, d3)>
#places = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5)>
#out = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
!x = tensor<1x?x?x8xf32, #dyn.shape<[1, H, W, 8]>>
!h = tensor<1x?x?x96xf32, #dyn.shape<[1, H, W, 96]>>
!y = tensor<1x?x?x96xf32, #dyn.shape<[1, H floordiv 2, W floordiv 2, 96]>>

// CHECK-LABEL: gir.kernel @any_pool_chain1(
// CHECK: gir.fill 0.000000e+00 : f32 : !gir.tile<l1, f32,
// CHECK: gir.binary "max"
// AVX2-LABEL: gir.kernel @any_pool_chain1(
func.func @any_pool(%x: !x, %w: tensor<8x96xf32>, %p: tensor<2x2xi1>) -> !y {
  %H = dyn.symbol "H" {range = [2, 128]} : index
  %W = dyn.symbol "W" {range = [2, 128]} : index
  %c = graph.compute ins(%x, %w : !x, tensor<8x96xf32>) -> !h {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#pixel, #weight, #made]
  } {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  %e = graph.compute ins(%c, %p : !h, tensor<2x2xi1>) -> !y {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce]>, combiners = #graph.combiners<[max]>, maps = [#two, #places, #out]
  } {
  ^bb0(%a: f32, %b: i1):
    graph.yield %a : f32
  }
  return %e : !y
}
