// RUN: sutura-opt %s --winograd | FileCheck %s
// RUN: sutura-opt %s --winograd --remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=SAID
// RUN: sutura-opt %s --winograd --propagate-shapes --stitch --convert-graph-to-gir --verify-each -o /dev/null

#x = affine_map<(n, f, h, w, c, i, j) -> (n, c, h + i - 1, w + j - 1)>
#w = affine_map<(n, f, h, w, c, i, j) -> (f, c, i, j)>
#y = affine_map<(n, f, h, w, c, i, j) -> (n, f, h, w)>
#last = affine_map<(n, f, h, w, c, i, j) -> (n, h + i, w + j, c)>
#to_last = affine_map<(n, f, h, w, c, i, j) -> (n, h, w, f)>
#steps = affine_map<(n, f, h, w, c, i, j) -> (n, c, 2 * h + i - 1, 2 * w + j - 1)>

!x = tensor<?x16x?x?xf32, #dyn.shape<[N, 16, H, W]>>

// What 4x4 places cover becomes 16 tensors, which are multiplied with as many constants; what is made of the sums lies where it did.
// CHECK-DAG: #[[FIRST:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1 * 2 - 1, d2 * 2 - 1)>
// CHECK-DAG: #[[TILE:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2 floordiv 2, d3 floordiv 2, d1)>
// CHECK-LABEL: func.func @padded(
// CHECK: %[[D:.*]]:16 = graph.compute ins(%x, {{.*}}maps = [#[[FIRST]],
// CHECK-COUNT-16: graph.compute ins(%[[D]]#{{[0-9]+}}, %{{.*}}tensor<16x16xf32>) -> tensor<?x?x?x16xf32, #dyn.shape<[N, (H + 1) floordiv 2, (W + 1) floordiv 2, 16]>>
// CHECK: %[[Y:.*]] = graph.compute ins({{.*}}maps = [#[[TILE]],
// CHECK: arith.select
// CHECK: return %[[Y]]
// SAID: a 3x3 convolution of 16 channels and 16 features takes 16 products for a tile of 2x2, not 36
func.func @padded(%x: !x) -> !x {
  %k = graph.constant dense<0.5> : tensor<16x16x3x3xf32>
  %y = graph.compute ins(%x, %k : !x, tensor<16x16x3x3xf32>) -> !x {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>,
    combiners = #graph.combiners<[add]>, oob = [0.0 : f32, unit], maps = [#x, #w, #y]} {
  ^bb0(%e: f32, %g: f32):
    %p = arith.mulf %e, %g : f32
    graph.yield %p : f32
  }
  return %y : !x
}

// Channels may be last; without padding, and with an even number of results, nothing is read outside.
// CHECK-LABEL: func.func @channels_last(
// CHECK: :16 = graph.compute
// CHECK-NOT: oob
// CHECK: return
// SAID: of 32 channels and 24 features
func.func @channels_last(%x: tensor<1x8x10x32xf32>) -> tensor<1x6x8x24xf32> {
  %k = graph.constant dense<0.5> : tensor<24x32x3x3xf32>
  %y = graph.compute ins(%x, %k : tensor<1x8x10x32xf32>, tensor<24x32x3x3xf32>) -> tensor<1x6x8x24xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>,
    combiners = #graph.combiners<[add]>, maps = [#last, #w, #to_last]} {
  ^bb0(%e: f32, %g: f32):
    %p = arith.mulf %e, %g : f32
    graph.yield %p : f32
  }
  return %y : tensor<1x6x8x24xf32>
}

// Few channels, other steps, weights that are no constant, and padding with another number: nothing changes.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: :16 = graph.compute
// CHECK: return
// SAID: stays as it is: it has less than 16 channels or features
// SAID-NOT: takes 16 products
func.func @others(%few: tensor<1x8x6x6xf32>, %x: tensor<1x16x6x6xf32>, %own: tensor<16x16x3x3xf32>)
    -> (tensor<1x16x6x6xf32>, tensor<1x16x3x3xf32>, tensor<1x16x6x6xf32>, tensor<1x16x6x6xf32>) {
  %k8 = graph.constant dense<0.5> : tensor<16x8x3x3xf32>
  %k = graph.constant dense<0.5> : tensor<16x16x3x3xf32>
  %a = graph.compute ins(%few, %k8 : tensor<1x8x6x6xf32>, tensor<16x8x3x3xf32>) -> tensor<1x16x6x6xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>,
    combiners = #graph.combiners<[add]>, oob = [0.0 : f32, unit], maps = [#x, #w, #y]} {
  ^bb0(%e: f32, %g: f32):
    %p = arith.mulf %e, %g : f32
    graph.yield %p : f32
  }
  %b = graph.compute ins(%x, %k : tensor<1x16x6x6xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x3x3xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>,
    combiners = #graph.combiners<[add]>, oob = [0.0 : f32, unit], maps = [#steps, #w, #y]} {
  ^bb0(%e: f32, %g: f32):
    %p = arith.mulf %e, %g : f32
    graph.yield %p : f32
  }
  %c = graph.compute ins(%x, %own : tensor<1x16x6x6xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x6x6xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>,
    combiners = #graph.combiners<[add]>, oob = [0.0 : f32, unit], maps = [#x, #w, #y]} {
  ^bb0(%e: f32, %g: f32):
    %p = arith.mulf %e, %g : f32
    graph.yield %p : f32
  }
  %d = graph.compute ins(%x, %k : tensor<1x16x6x6xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x6x6xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>,
    combiners = #graph.combiners<[add]>, oob = [1.0 : f32, unit], maps = [#x, #w, #y]} {
  ^bb0(%e: f32, %g: f32):
    %p = arith.mulf %e, %g : f32
    graph.yield %p : f32
  }
  return %a, %b, %c, %d : tensor<1x16x6x6xf32>, tensor<1x16x3x3xf32>, tensor<1x16x6x6xf32>, tensor<1x16x6x6xf32>
}
