// Between convolutions channels are last; types and maps follow, and no operation is added.

// RUN: sutura-opt %s --channels-last | FileCheck %s
// RUN: sutura-opt %s --channels-last --remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=SAID
// RUN: sutura-opt %s --channels-last --check-passes --strict -o /dev/null
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=sm_80},channels-last)' --remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=sm_80},channels-last)' | FileCheck %s --check-prefix=KEPT

// DEVICE: no layout changes: kernels of a device read tensors as they are
// KEPT: func.func @network
// KEPT-NOT: tensor<2x9x7x16xf32>

#x = affine_map<(n, f, h, w, c, i, j) -> (n, c, h + i - 1, w + j - 1)>
#w = affine_map<(n, f, h, w, c, i, j) -> (f, c, i, j)>
#y = affine_map<(n, f, h, w, c, i, j) -> (n, f, h, w)>
#id = affine_map<(n, f, h, w) -> (n, f, h, w)>
#f = affine_map<(n, f, h, w) -> (f)>
#wx = affine_map<(n, c, h, w, i, j) -> (n, c, h + i - 1, w + j - 1)>
#ww = affine_map<(n, c, h, w, i, j) -> (c, i, j)>
#wy = affine_map<(n, c, h, w, i, j) -> (n, c, h, w)>

!x = tensor<2x3x9x7xf32>
!t = tensor<2x16x9x7xf32>

// What the function takes and returns stays. The weights of the depthwise convolution follow; those of the others are packed anyway.
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5 - 1, d3 + d6 - 1)>
// CHECK-DAG: #[[LAST:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d2, d3, d1)>
// CHECK-DAG: #[[WINDOW:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d2 + d4 - 1, d3 + d5 - 1, d1)>
// CHECK-DAG: #[[TURNED:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5, d1)>
// CHECK-LABEL: func.func @network(
// CHECK-SAME: %x: !x) -> !t
// CHECK: %[[A:.*]] = graph.compute ins(%x, %{{.*}} : !x, tensor<16x3x3x3xf32>) -> tensor<2x9x7x16xf32> {{.*}}maps = [#[[X]], #{{.*}}, #[[LAST]]]
// CHECK: %[[B:.*]] = graph.compute ins(%[[A]], %{{.*}} : tensor<2x9x7x16xf32>, tensor<16xf32>) -> tensor<2x9x7x16xf32>
// CHECK: graph.constant {{.*}} : tensor<3x3x16xf32>
// CHECK: %[[C:.*]] = graph.compute ins(%[[B]], %{{.*}} : tensor<2x9x7x16xf32>, tensor<3x3x16xf32>) -> tensor<2x9x7x16xf32> {{.*}}maps = [#[[WINDOW]], #[[TURNED]], #
// CHECK: graph.compute ins(%[[C]], %{{.*}} : tensor<2x9x7x16xf32>, tensor<16x16x3x3xf32>) -> !t
// SAID-DAG: %a lies with dimension 1 last, along which its channels are
// SAID-DAG: %d lies as it did: the function returns it
func.func @network(%x: !x) -> !t {
  %k = graph.constant dense<0.5> : tensor<16x3x3x3xf32>
  %bias = graph.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<16xf32>
  %own = graph.constant dense<0.25> : tensor<16x3x3xf32>
  %k2 = graph.constant dense<0.125> : tensor<16x16x3x3xf32>
  %a = graph.compute ins(%x, %k : !x, tensor<16x3x3x3xf32>) -> !t {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>,
    combiners = #graph.combiners<[add]>, oob = [0.0 : f32, unit], maps = [#x, #w, #y]} {
  ^bb0(%e: f32, %g: f32):
    %p = arith.mulf %e, %g : f32
    graph.yield %p : f32
  }
  %b = graph.compute ins(%a, %bias : !t, tensor<16xf32>) -> !t {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #f, #id]} {
  ^bb0(%e: f32, %g: f32):
    %s = arith.addf %e, %g : f32
    graph.yield %s : f32
  }
  %c = graph.compute ins(%b, %own : !t, tensor<16x3x3xf32>) -> !t {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce]>,
    combiners = #graph.combiners<[add]>, oob = [0.0 : f32, unit], maps = [#wx, #ww, #wy]} {
  ^bb0(%e: f32, %g: f32):
    %p = arith.mulf %e, %g : f32
    graph.yield %p : f32
  }
  %d = graph.compute ins(%c, %k2 : !t, tensor<16x16x3x3xf32>) -> !t {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>,
    combiners = #graph.combiners<[add]>, oob = [0.0 : f32, unit], maps = [#x, #w, #y]} {
  ^bb0(%e: f32, %g: f32):
    %p = arith.mulf %e, %g : f32
    graph.yield %p : f32
  }
  return %d : !t
}
