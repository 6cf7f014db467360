// Convolutions whose features sum over the channels of their own group: the group and the feature within it become two dims.

// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx512},func.func(stitch),convert-graph-to-gir)' | FileCheck %s
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx512},func.func(stitch),convert-graph-to-gir)' --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=SAID
// RUN: sutura-opt %s --check-passes --strict --pass-pipeline='builtin.module(attach-target{name=x86_avx512},func.func(stitch),convert-graph-to-gir)' -o /dev/null
// RUN: sutura-opt %s --check-passes --strict --pass-pipeline='builtin.module(attach-target{name=x86_avx2},func.func(stitch),convert-graph-to-gir)' -o /dev/null
// RUN: sutura-opt %s --check-passes --strict --pass-pipeline='builtin.module(attach-target{name=sm_80},func.func(stitch),convert-graph-to-gir)' -o /dev/null

!x = tensor<?x?x?x32xf32, #dyn.shape<[B, H, W, 32]>>

#x = affine_map<(b, f, h, w, c, i, j) -> (b, h + i - 1, w + j - 1, (f floordiv 16) * 16 + c)>
#weights = affine_map<(b, f, h, w, c, i, j) -> (f, c, i, j)>
#y = affine_map<(b, f, h, w, c, i, j) -> (b, h, w, f)>
#id = affine_map<(b, h, w, f) -> (b, h, w, f)>
#bias = affine_map<(b, h, w, f) -> (f)>

// Groups are a batch of the product: each has panels and lines of its own. What follows runs on its tiles, the tensor that is convolved
// and one along the channels among them.
// CHECK-LABEL: gir.kernel @residual_contract0(
// CHECK-SAME: !gir.view<dram, f32, [32, 16, 3, 3]> in, %{{.*}} : !gir.view<dram, f32, [2, 1, 3, 3, 16, 16]> out) {{.*}}grid(%{{.*}} = 2, %{{.*}} = 1)
// CHECK-LABEL: gir.kernel @residual_contract1(
// CHECK: gir.contract {{.*}} !gir.tile<vec, f32, [12, 1]>, !gir.tile<vec, f32, [1, 16]>, !gir.tile<vec, f32, [12, 16]>
// SAID: is a convolution: batch (2), rows (B, H, W), columns (16), sums over (3, 3, 16)
func.func @residual(%x: !x, %w: tensor<32x16x3x3xf32>, %bias: tensor<32xf32>) -> !x {
  %B = dyn.symbol "B" : index
  %H = dyn.symbol "H" {range = [1, 4096]} : index
  %W = dyn.symbol "W" {range = [1, 4096]} : index
  %y = graph.compute ins(%x, %w : !x, tensor<32x16x3x3xf32>) -> !x {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>, combiners = #graph.combiners<[add]>, oob = [0.0 : f32, unit],
    maps = [#x, #weights, #y]} {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    graph.yield %p : f32
  }
  %z = graph.compute ins(%y, %bias, %x : !x, tensor<32xf32>, !x) -> !x {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>,
    maps = [#id, #bias, #id, #id]} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %f = graph.index 3 : index
    %i = arith.index_cast %f : index to i64
    %n = arith.sitofp %i : i64 to f32
    %s = arith.addf %a, %b : f32
    %t = arith.addf %s, %c : f32
    %u = arith.mulf %t, %n : f32
    graph.yield %u : f32
  }
  return %z : !x
}

!lines = tensor<?x12x?x?xf32, #dyn.shape<[B, 12, H, W]>>
!made = tensor<?x48x?x?xf32, #dyn.shape<[B, 48, (H + 1) floordiv 2, (W + 1) floordiv 2]>>

#x4 = affine_map<(b, f, h, w, c, i, j) -> (b, (f floordiv 16) * 4 + c, h * 2 + i - 1, w * 2 + j - 1)>
#y4 = affine_map<(b, f, h, w, c, i, j) -> (b, f, h, w)>

// Other features than channels, a step of two, and channels that lie apart.
// CHECK-LABEL: gir.kernel @fewer_channels_contract1(
// CHECK: gir.contract
// SAID: is a convolution: batch (3), rows (B, (H + 1) floordiv 2, (W + 1) floordiv 2), columns (16), sums over (4, 3, 3)
func.func @fewer_channels(%x: !lines, %w: tensor<48x4x3x3xf32>) -> !made {
  %B = dyn.symbol "B" : index
  %H = dyn.symbol "H" {range = [1, 4096]} : index
  %W = dyn.symbol "W" {range = [1, 4096]} : index
  %y = graph.compute ins(%x, %w : !lines, tensor<48x4x3x3xf32>) -> !made {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>, combiners = #graph.combiners<[add]>, oob = [0.0 : f32, unit],
    maps = [#x4, #weights, #y4]} {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    graph.yield %p : f32
  }
  return %y : !made
}

#one = affine_map<(b, f, h, w, c, i, j) -> (b, h, w, (f floordiv 24) * 16 + c)>

// A window of one place is a product of matrices for each group; panels are as wide as 24 features need.
// CHECK-LABEL: gir.kernel @one_place_contract0(
// CHECK: gir.contract {{.*}} !gir.tile<vec, f32, [1, 32]>, !gir.tile<vec, f32, [12, 32]>
func.func @one_place(%x: !x, %w: tensor<48x16x1x1xf32>) -> tensor<?x?x?x48xf32, #dyn.shape<[B, H, W, 48]>> {
  %B = dyn.symbol "B" : index
  %H = dyn.symbol "H" {range = [1, 4096]} : index
  %W = dyn.symbol "W" {range = [1, 4096]} : index
  %y = graph.compute ins(%x, %w : !x, tensor<48x16x1x1xf32>) -> tensor<?x?x?x48xf32, #dyn.shape<[B, H, W, 48]>> {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>, combiners = #graph.combiners<[add]>,
    maps = [#one, #weights, #y]} {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    graph.yield %p : f32
  }
  return %y : tensor<?x?x?x48xf32, #dyn.shape<[B, H, W, 48]>>
}

#x8 = affine_map<(b, f, h, w, c, i, j) -> (b, (f floordiv 8) * 8 + c, h + i, w + j)>

// Groups of few features would leave most of a vector empty: their windows run along lines.
// CHECK-LABEL: gir.kernel @few_features_window0(
// CHECK-NOT: gir.contract %
// CHECK-LABEL: rt.program @few_features
func.func @few_features(%x: tensor<1x16x9x20xf32>, %w: tensor<16x8x3x3xf32>) -> tensor<1x16x7x18xf32> {
  %y = graph.compute ins(%x, %w : tensor<1x16x9x20xf32>, tensor<16x8x3x3xf32>) -> tensor<1x16x7x18xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>, combiners = #graph.combiners<[add]>,
    maps = [#x8, #weights, #y4]} {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    graph.yield %p : f32
  }
  return %y : tensor<1x16x7x18xf32>
}

#x16 = affine_map<(b, f, h, w, c, i, j) -> (b, (f floordiv 16) * 8 + c, h + i, w + j)>

// A tensor with more channels than the groups read cannot be indexed by groups: it is read as it is written.
// CHECK-LABEL: gir.kernel @more_channels_window0(
// CHECK-NOT: gir.contract %
// CHECK-LABEL: rt.program @more_channels
func.func @more_channels(%x: tensor<1x24x6x6xf32>, %w: tensor<32x8x3x3xf32>) -> tensor<1x32x4x4xf32> {
  %y = graph.compute ins(%x, %w : tensor<1x24x6x6xf32>, tensor<32x8x3x3xf32>) -> tensor<1x32x4x4xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>, combiners = #graph.combiners<[add]>,
    maps = [#x16, #weights, #y4]} {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    graph.yield %p : f32
  }
  return %y : tensor<1x32x4x4xf32>
}

#reversed = affine_map<(b, f, h, w) -> (b, -f + 31, h, w)>
#nchw = affine_map<(b, f, h, w) -> (b, f, h, w)>

// What follows reads features in another order: that is another kernel, and the groups are a product all the same.
// CHECK-LABEL: gir.kernel @read_backward_contract1(
// CHECK: gir.contract
// CHECK-LABEL: rt.program @read_backward
func.func @read_backward(%x: tensor<1x16x6x6xf32>, %w: tensor<32x8x3x3xf32>) -> tensor<1x32x4x4xf32> {
  %y = graph.compute ins(%x, %w : tensor<1x16x6x6xf32>, tensor<32x8x3x3xf32>) -> tensor<1x32x4x4xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>, combiners = #graph.combiners<[add]>,
    maps = [#x16, #weights, #y4]} {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    graph.yield %p : f32
  }
  %z = graph.compute ins(%y : tensor<1x32x4x4xf32>) -> tensor<1x32x4x4xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>,
    maps = [#reversed, #nchw]} {
  ^bb0(%a: f32):
    %s = math.absf %a : f32
    graph.yield %s : f32
  }
  return %z : tensor<1x32x4x4xf32>
}

#scale = affine_map<(b, f, h, w) -> (f floordiv 16)>

// What follows reads a number for each group at a place that is computed: then the region has one dim of features, and is a window.
// CHECK-LABEL: gir.kernel @by_number_window0(
// CHECK-NOT: gir.contract %
// CHECK-LABEL: rt.program @by_number
func.func @by_number(%x: tensor<1x16x6x6xf32>, %w: tensor<32x8x3x3xf32>, %s: tensor<2xf32>) -> tensor<1x32x4x4xf32> {
  %y = graph.compute ins(%x, %w : tensor<1x16x6x6xf32>, tensor<32x8x3x3xf32>) -> tensor<1x32x4x4xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>, combiners = #graph.combiners<[add]>,
    maps = [#x16, #weights, #y4]} {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    graph.yield %p : f32
  }
  %z = graph.compute ins(%y, %s : tensor<1x32x4x4xf32>, tensor<2xf32>) -> tensor<1x32x4x4xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>,
    maps = [#nchw, #scale, #nchw]} {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    graph.yield %p : f32
  }
  return %z : tensor<1x32x4x4xf32>
}
