// Channels that a convolution reads by groups are channels where its groups become products, and keep a tensor as it is where not.

// RUN: sutura-opt %s --channels-last | FileCheck %s
// RUN: sutura-opt %s --channels-last --remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=SAID
// RUN: sutura-opt %s --channels-last --check-passes --strict -o /dev/null
// RUN: sutura-opt %s --check-passes --strict --pass-pipeline='builtin.module(attach-target{name=x86_avx512},channels-last,winograd,stitch,convert-graph-to-gir)' -o /dev/null

#x = affine_map<(n, f, h, w, c, i, j) -> (n, c, h + i - 1, w + j - 1)>
#w = affine_map<(n, f, h, w, c, i, j) -> (f, c, i, j)>
#y = affine_map<(n, f, h, w, c, i, j) -> (n, f, h, w)>
#id = affine_map<(n, f, h, w) -> (n, f, h, w)>
#mean = affine_map<(n, f, h, w) -> (n, f)>
#by16 = affine_map<(n, f, h, w, c, i, j) -> (n, (f floordiv 16) * 8 + c, h + i - 1, w + j - 1)>
#by8 = affine_map<(n, f, h, w, c, i, j) -> (n, (f floordiv 8) * 4 + c, h + i - 1, w + j - 1)>

!x = tensor<2x3x7x5xf32>
!in = tensor<2x16x7x5xf32>
!out = tensor<2x32x7x5xf32>

// Groups of 16 features: what is read and what is made change, and the weights do not, which are packed anyway.
// CHECK-DAG: #[[GROUPS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d2 + d5 - 1, d3 + d6 - 1, (d1 floordiv 16) * 8 + d4)>
// CHECK-DAG: #[[LAST:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d2, d3, d1)>
// CHECK-LABEL: func.func @groups(
// CHECK: %[[A:.*]] = graph.compute {{.*}} -> tensor<2x7x5x16xf32>
// CHECK: graph.compute ins(%[[A]], %{{.*}} : tensor<2x7x5x16xf32>, tensor<32x8x3x3xf32>) -> tensor<2x7x5x32xf32> {{.*}}maps = [#[[GROUPS]], #{{.*}}, #[[LAST]]]
// SAID-DAG: %in_groups lies with dimension 1 last, along which its channels are
// SAID-DAG: %made_by_groups lies with dimension 1 last, along which its channels are
func.func @groups(%x: !x) -> tensor<2x32xf32> {
  %w = graph.constant dense<0.5> : tensor<16x3x3x3xf32>
  %k = graph.constant dense<0.25> : tensor<32x8x3x3xf32>
  %in_groups = graph.compute ins(%x, %w : !x, tensor<16x3x3x3xf32>) -> !in {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>, combiners = #graph.combiners<[add]>, oob = [0.0 : f32, unit],
    maps = [#x, #w, #y]} {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    graph.yield %p : f32
  }
  %made_by_groups = graph.compute ins(%in_groups, %k : !in, tensor<32x8x3x3xf32>) -> !out {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>, combiners = #graph.combiners<[add]>, oob = [0.0 : f32, unit],
    maps = [#by16, #w, #y]} {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    graph.yield %p : f32
  }
  %most = graph.compute ins(%made_by_groups : !out) -> tensor<2x32xf32> {
    iterators = #graph.iterators<[parallel, parallel, reduce, reduce]>, combiners = #graph.combiners<[max]>,
    maps = [#id, #mean]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  return %most : tensor<2x32xf32>
}

// Groups of 8 features are no products: windows run along lines of the tensor as it is.
// CHECK-LABEL: func.func @few(
// CHECK: graph.compute {{.*}} -> !in
// CHECK: graph.compute {{.*}} -> !out
// SAID-DAG: %in_few lies as it did: channels are read in groups or steps, or at places that are computed
// SAID-DAG: %made_by_few lies as it did: a window reads a tensor that stays, and makes it
func.func @few(%x: !x) -> tensor<2x32xf32> {
  %w = graph.constant dense<0.5> : tensor<16x3x3x3xf32>
  %k = graph.constant dense<0.25> : tensor<32x4x3x3xf32>
  %in_few = graph.compute ins(%x, %w : !x, tensor<16x3x3x3xf32>) -> !in {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>, combiners = #graph.combiners<[add]>, oob = [0.0 : f32, unit],
    maps = [#x, #w, #y]} {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    graph.yield %p : f32
  }
  %made_by_few = graph.compute ins(%in_few, %k : !in, tensor<32x4x3x3xf32>) -> !out {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>, combiners = #graph.combiners<[add]>, oob = [0.0 : f32, unit],
    maps = [#by8, #w, #y]} {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    graph.yield %p : f32
  }
  %most = graph.compute ins(%made_by_few : !out) -> tensor<2x32xf32> {
    iterators = #graph.iterators<[parallel, parallel, reduce, reduce]>, combiners = #graph.combiners<[max]>,
    maps = [#id, #mean]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  return %most : tensor<2x32xf32>
}
