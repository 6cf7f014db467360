// RUN: sutura-opt %s --split-input-file --pass-pipeline='builtin.module(attach-target{name=x86_avx512},func.func(stitch),convert-graph-to-gir)' | FileCheck %s
// RUN: sutura-opt %s --split-input-file --check-passes --pass-pipeline='builtin.module(attach-target{name=x86_avx2},func.func(stitch),convert-graph-to-gir)' | FileCheck %s --check-prefix=AVX2
// RUN: sutura-opt %s --split-input-file --pass-pipeline='builtin.module(attach-target{name=sm_80},func.func(stitch),convert-graph-to-gir)' | FileCheck %s --check-prefix=GPU

!x = tensor<?x12x?x?xf32, #dyn.shape<[B, 12, H, W]>>
#x = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2 + d4 - 1, d3 + d5 - 1)>
#w = affine_map<(d0, d1, d2, d3, d4, d5) -> (d1, d4, d5)>
#y = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>

// A depthwise convolution with a ReLU is one kernel: a group brings lines of a channel near, padded, so that nothing asks for bounds
// where they are read. Rows of a tile are neighbours, the places of the window along them are innermost, and tiles end with lines.
// Lines of one vector have a version with higher tiles.
// CHECK-LABEL: gir.kernel @depthwise_window0(
// CHECK-SAME: requires([-W + 16])
// CHECK: gir.store {{.*}} !gir.tile<vec, f32, [7, 16]>
// CHECK-LABEL: gir.kernel @depthwise_window1(
// CHECK: %[[NEAR:.*]] = gir.alloc owner("unit") : !gir.view<l1, f32,
// CHECK: gir.load %{{.*}} pad(0.000000e+00 : f32)
// CHECK: gir.for %{{.*}} = %[[FIRST:.*]] to %[[END:[0-9]+]] {
// CHECK: gir.for %[[PLACE:.*]] = %c0 to %c3 carry
// CHECK: gir.for %{{.*}} = %c0 to %c3 carry
// CHECK: %[[ROWS:.*]] = gir.slice %[[NEAR]][{{.*}}] rows(0) cols(1)
// CHECK: gir.load %[[ROWS]] : !gir.slice<l1, f32, [4, 32]> -> !gir.tile<vec, f32, [4, 32]>
// CHECK: gir.binary "max"
// CHECK: gir.store {{.*}} !gir.tile<vec, f32, [4, 32]>
// CHECK-LABEL: rt.program @depthwise
// CHECK: select if [-W + 16]
// CHECK: launch @depthwise_window0
// CHECK: launch @depthwise_window1
// CHECK-NOT: launch @
// AVX2-LABEL: gir.kernel @depthwise_window0(
// AVX2: !gir.tile<vec, f32, [2, 16]>
// GPU-NOT: _window
// GPU: rt.program @depthwise
func.func @depthwise(%x: !x, %w: tensor<12x3x3xf32>) -> !x {
  %B = dyn.symbol "B" {range = [0, 8]} : index
  %H = dyn.symbol "H" {range = [0, 64]} : index
  %W = dyn.symbol "W" {range = [0, 64]} : index
  %c = graph.compute ins(%x, %w : !x, tensor<12x3x3xf32>) -> !x {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce]>,
    combiners = #graph.combiners<[add]>, maps = [#x, #w, #y], oob = [0.0 : f32, unit]
  } {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  %r = graph.compute ins(%c : !x) -> !x {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %zero = arith.constant 0.0 : f32
    %v = arith.maximumf %a, %zero : f32
    graph.yield %v : f32
  }
  return %r : !x
}

// -----

#x = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, (d1 floordiv 2) * 3 + d4, d2 * 2 + d5, d3 * 2 + d6)>
#w = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>
#y = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>

// Groups of several channels: those of a group are near for each of its features.
// CHECK-LABEL: gir.kernel @groups_window0(
// CHECK: gir.alloc owner("unit") : !gir.view<l1, f32, [3,
// AVX2-LABEL: gir.kernel @groups_window0(
func.func @groups(%x: tensor<1x6x15x23xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x7x11xf32> {
  %c = graph.compute ins(%x, %w : tensor<1x6x15x23xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x7x11xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>,
    combiners = #graph.combiners<[add]>, maps = [#x, #w, #y]
  } {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  return %c : tensor<1x4x7x11xf32>
}

// -----

#x = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 * 2 + d3, d2 * 2 + d4 - 1)>
#k = affine_map<(d0, d1, d2, d3, d4) -> (d3, d4)>
#y = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>

// A pool has no weights; what lies around the input is what it is padded with.
// CHECK-LABEL: gir.kernel @pool_window0(
// CHECK: gir.load %{{.*}} pad(0xFF800000 : f32)
// AVX2-LABEL: gir.kernel @pool_window0(
func.func @pool(%x: tensor<5x32x65xf32>, %k: tensor<2x3xi1>) -> tensor<5x16x33xf32> {
  %c = graph.compute ins(%x, %k : tensor<5x32x65xf32>, tensor<2x3xi1>) -> tensor<5x16x33xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, reduce, reduce]>, combiners = #graph.combiners<[max]>,
    maps = [#x, #k, #y], oob = [0xFF800000 : f32, unit]
  } {
  ^bb0(%a: f32, %b: i1):
    graph.yield %a : f32
  }
  return %c : tensor<5x16x33xf32>
}

// -----

#x = affine_map<(d0, d1, d2) -> (d0 + d1 + d2)>
#k = affine_map<(d0, d1, d2) -> (d2)>
#y = affine_map<(d0, d1, d2) -> (d0, d1)>

// A window that two dims move together is a loop, as one that is read backward.
// CHECK-NOT: gir.kernel @{{.*}}_window
// CHECK: rt.program @together
// AVX2: rt.program @together
func.func @together(%x: tensor<56xf32>, %k: tensor<4xi1>) -> tensor<17x37xf32> {
  %c = graph.compute ins(%x, %k : tensor<56xf32>, tensor<4xi1>) -> tensor<17x37xf32> {
    iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#x, #k, #y]
  } {
  ^bb0(%a: f32, %b: i1):
    graph.yield %a : f32
  }
  return %c : tensor<17x37xf32>
}

// -----

#x = affine_map<(d0, d1, d2) -> (d0, d1 - d2 + 3)>
#k = affine_map<(d0, d1, d2) -> (d2)>
#y = affine_map<(d0, d1, d2) -> (d0, d1)>

// CHECK-NOT: gir.kernel @{{.*}}_window
// CHECK: rt.program @backward
// AVX2: rt.program @backward
func.func @backward(%x: tensor<20x40xf32>, %k: tensor<4xi1>) -> tensor<20x37xf32> {
  %c = graph.compute ins(%x, %k : tensor<20x40xf32>, tensor<4xi1>) -> tensor<20x37xf32> {
    iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#x, #k, #y]
  } {
  ^bb0(%a: f32, %b: i1):
    graph.yield %a : f32
  }
  return %c : tensor<20x37xf32>
}
