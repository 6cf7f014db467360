// Tensors whose channels are neighbours in memory.

// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx512},func.func(stitch),convert-graph-to-gir)' | FileCheck %s
// RUN: sutura-opt %s --check-passes --strict --pass-pipeline='builtin.module(attach-target{name=x86_avx2},func.func(stitch),convert-graph-to-gir)' -o /dev/null

!x = tensor<?x?x?x12xf32, #dyn.shape<[B, H, W, 12]>>
!y = tensor<?x?x?x40xf32, #dyn.shape<[B, H, W, 40]>>
!half = tensor<?x?x?x12xf32, #dyn.shape<[B, (H + 1) floordiv 2, (W + 1) floordiv 2, 12]>>

#x = affine_map<(b, h, w, f, c, i, j) -> (b, h + i - 1, w + j - 1, c)>
#weights = affine_map<(b, h, w, f, c, i, j) -> (f, c, i, j)>
#y = affine_map<(b, h, w, f, c, i, j) -> (b, h, w, f)>

// A convolution copies padded lines of channels, of which several indices may lie outside, and sums over channels innermost. What is
// stored needs no turning.
// CHECK-LABEL: gir.kernel @convolution_contract1(
// CHECK: gir.slice %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %c0] cols(3) clips(1, 2)
// CHECK: gir.load %{{.*}} pad(0.000000e+00 : f32)
// CHECK: gir.for %{{.*}} = %c0 to %c3 carry
// CHECK: gir.for %{{.*}} = %c0 to %c3 carry
// CHECK: gir.for %{{.*}} = %c0 to %c12 carry
// CHECK: gir.contract
// CHECK-NOT: gir.transpose
// CHECK: gir.store
func.func @convolution(%x: !x, %w: tensor<40x12x3x3xf32>) -> !y {
  %y = graph.compute ins(%x, %w : !x, tensor<40x12x3x3xf32>) -> !y {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>,
    combiners = #graph.combiners<[add]>, oob = [0.0 : f32, unit], maps = [#x, #weights, #y]} {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    graph.yield %p : f32
  }
  return %y : !y
}

#window = affine_map<(b, h, w, c, i, j) -> (b, h + i - 1, w + j - 1, c)>
#places = affine_map<(b, h, w, c, i, j) -> (i, j, c)>
#result = affine_map<(b, h, w, c, i, j) -> (b, h, w, c)>

// A depthwise convolution has channels as columns, and rows along a line.
// CHECK-LABEL: gir.kernel @depthwise_window0(
// CHECK: gir.slice %{{.*}} cols(3) clips(1, 2)
// CHECK: gir.slice %{{.*}} rows(1) cols(2) : !gir.view<l1, f32, [
// CHECK: gir.store
func.func @depthwise(%x: !x, %w: tensor<3x3x12xf32>) -> !x {
  %y = graph.compute ins(%x, %w : !x, tensor<3x3x12xf32>) -> !x {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce]>,
    combiners = #graph.combiners<[add]>, oob = [0.0 : f32, unit], maps = [#window, #places, #result]} {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    graph.yield %p : f32
  }
  return %y : !x
}

#steps = affine_map<(b, h, w, c, i, j) -> (b, 2 * h + i - 1, 2 * w + j - 1, c)>
#kernel = affine_map<(b, h, w, c, i, j) -> (i, j)>

// CHECK-LABEL: gir.kernel @pool_window0(
// CHECK: gir.slice %{{.*}} cols(3) clips(1, 2)
// CHECK: gir.binary "max"
func.func @pool(%x: !x, %k: tensor<3x3xi1>) -> !half {
  %y = graph.compute ins(%x, %k : !x, tensor<3x3xi1>) -> !half {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce]>,
    combiners = #graph.combiners<[max]>, oob = [0xFF800000 : f32, unit], maps = [#steps, #kernel, #result]} {
  ^bb0(%a: f32, %b: i1):
    graph.yield %a : f32
  }
  return %y : !half
}
