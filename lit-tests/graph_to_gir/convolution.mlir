// RUN: sutura-opt %s --split-input-file --pass-pipeline='builtin.module(attach-target{name=x86_avx512},func.func(stitch),convert-graph-to-gir)' | FileCheck %s
// RUN: sutura-opt %s --split-input-file --pass-pipeline='builtin.module(attach-target{name=x86_avx512},func.func(stitch),convert-graph-to-gir)' --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: sutura-opt %s --split-input-file --pass-pipeline='builtin.module(attach-target{name=sm_80},func.func(stitch),convert-graph-to-gir)' | FileCheck %s --check-prefix=GPU

// Regions that were made for another machine: groups of this one keep nothing near.
// GPU-LABEL: gir.kernel @same_loop0
// GPU-NOT: gir.contract
// GPU-LABEL: rt.program @same

#x = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5 - 1, d3 + d6 - 1)>
#w = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>
#y = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>

// The weights are packed into panels; a group brings near what the windows of its lines cover, with zeros around, and tiles of
// the result are written across, since columns of a tile are features.
// CHECK-LABEL: gir.kernel @same_contract0(
// CHECK-SAME: !gir.view<dram, f32, [64, 64, 3, 3]> in, %{{.*}} : !gir.view<dram, f32, [2, 64, 3, 3, 32]> out) {{.*}}grid(%{{.*}} = 2)
// CHECK-LABEL: gir.kernel @same_contract1(
// CHECK: %[[NEAR:.*]] = gir.alloc owner("unit") : !gir.view<l1, f32, [64, 5, 62]>
// CHECK: gir.load {{.*}} pad(0.000000e+00 : f32) : !gir.slice<dram, f32, [1, 62]> -> !gir.tile<l1, f32, [1, 62]>
// CHECK: gir.slice %[[NEAR]]{{.*}} cols(2)
// CHECK: gir.fill 0.000000e+00 : f32 : !gir.tile<vec, f32, [12, 32]>
// CHECK: gir.slice %[[NEAR]]{{.*}} rows(2) : {{.*}} -> !gir.slice<l1, f32, [12, 1]>
// CHECK: gir.contract {{.*}} !gir.tile<vec, f32, [12, 1]>, !gir.tile<vec, f32, [1, 32]>, !gir.tile<vec, f32, [12, 32]>
// CHECK: gir.transpose
// CHECK: gir.store {{.*}} : !gir.tile<vec, f32, [32, 12]>
// CHECK-LABEL: rt.program @same
// REMARK: is a convolution: rows (1, 56, 56), columns (64), sums over (64, 3, 3); tiles of 12x32, and a group keeps near what the windows of 3 lines of 60 results cover
func.func @same(%x: tensor<1x64x56x56xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32> {
  %c = graph.compute ins(%x, %w : tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>,
    combiners = #graph.combiners<[add]>, maps = [#x, #w, #y], oob = [0.0 : f32, unit]
  } {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  return %c : tensor<1x64x56x56xf32>
}

// -----

#x = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 * 2 + d5, d3 * 2 + d6)>
#w = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>
#y = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>

// A step of two: rows of a tile are read near in steps of two. A line of 7 has a tile of 7 rows; so few lines leave one group, so
// that each has one tile of columns.
// CHECK-LABEL: gir.kernel @halved_contract1(
// CHECK-SAME: grid(%{{.*}} = 1, %{{.*}} = 4, %{{.*}} = 1, %{{.*}} = 1)
// CHECK: rows(2) by 2 : {{.*}} -> !gir.slice<l1, f32, [7, 1]>
// CHECK: gir.contract {{.*}} !gir.tile<vec, f32, [7, 1]>
// REMARK: is a convolution: rows (1, 7, 7), columns (128)
func.func @halved(%x: tensor<1x16x15x15xf32>, %w: tensor<128x16x3x3xf32>) -> tensor<1x128x7x7xf32> {
  %c = graph.compute ins(%x, %w : tensor<1x16x15x15xf32>, tensor<128x16x3x3xf32>) -> tensor<1x128x7x7xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>,
    combiners = #graph.combiners<[add]>, maps = [#x, #w, #y]
  } {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  return %c : tensor<1x128x7x7xf32>
}

// -----

#x = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1 + d3)>
#w = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#y = affine_map<(d0, d1, d2, d3) -> (d0, d1)>

// No dimension is the weights' alone: no product, but a window.
// CHECK-LABEL: gir.kernel @one_feature_
// CHECK-NOT: gir.contract %
// CHECK-LABEL: rt.program @one_feature
// REMARK: a region of the family 'window' with 1 op
func.func @one_feature(%x: tensor<2x8x32xf32>, %w: tensor<8x3xf32>) -> tensor<2x30xf32> {
  %c = graph.compute ins(%x, %w : tensor<2x8x32xf32>, tensor<8x3xf32>) -> tensor<2x30xf32> {
    iterators = #graph.iterators<[parallel, parallel, reduce, reduce]>, combiners = #graph.combiners<[add]>, maps = [#x, #w, #y]
  } {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  return %c : tensor<2x30xf32>
}

// -----

#x = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5 - 1, d3 + d6 - 1)>
#w = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>
#y = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>

// 48 features: tiles of 32 would compute 64 columns, those of 16 compute 48.
// CHECK-LABEL: gir.kernel @three_panels_contract1(
// CHECK: gir.contract {{.*}} !gir.tile<vec, f32, [10, 1]>, !gir.tile<vec, f32, [1, 16]>
// REMARK: is a convolution: rows (1, 28, 28), columns (48), sums over (8, 3, 3); tiles of 10x16
func.func @three_panels(%x: tensor<1x8x28x28xf32>, %w: tensor<48x8x3x3xf32>) -> tensor<1x48x28x28xf32> {
  %c = graph.compute ins(%x, %w : tensor<1x8x28x28xf32>, tensor<48x8x3x3xf32>) -> tensor<1x48x28x28xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>,
    combiners = #graph.combiners<[add]>, maps = [#x, #w, #y], oob = [0.0 : f32, unit]
  } {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  return %c : tensor<1x48x28x28xf32>
}

// -----

#x = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5 - 1, d3 + d6 - 1)>
#w = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>
#y = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>

// So few rows would leave a unit idle between sums of narrow tiles.
// CHECK-LABEL: gir.kernel @few_rows_contract1(
// CHECK: gir.contract {{.*}} !gir.tile<vec, f32, [4, 1]>, !gir.tile<vec, f32, [1, 32]>
// REMARK: is a convolution: rows (1, 4, 4), columns (48), sums over (8, 3, 3); tiles of 4x32
func.func @few_rows(%x: tensor<1x8x4x4xf32>, %w: tensor<48x8x3x3xf32>) -> tensor<1x48x4x4xf32> {
  %c = graph.compute ins(%x, %w : tensor<1x8x4x4xf32>, tensor<48x8x3x3xf32>) -> tensor<1x48x4x4xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>,
    combiners = #graph.combiners<[add]>, maps = [#x, #w, #y], oob = [0.0 : f32, unit]
  } {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  return %c : tensor<1x48x4x4xf32>
}
