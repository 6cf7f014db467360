// Places of a window that read nothing but the padding are left out, where the weights are constants and finite.

// RUN: sutura-opt %s --fold-padding --split-input-file | FileCheck %s
// RUN: sutura-opt %s --fold-padding --split-input-file --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=SAID
// RUN: sutura-opt %s --split-input-file --check-passes=2 --strict --pass-pipeline='builtin.module(fold-padding)' -o /dev/null
// RUN: sutura-opt %s --split-input-file --pass-pipeline='builtin.module(attach-target{name=x86_avx512},fold-padding,channels-last,stitch,convert-graph-to-gir)' --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=GIR

// A map of one place: the middle of the window is left, and the convolution is a product.
// SAID: 2 of 3 places of the window along d5 read nothing but the padding: they are left out
// SAID: 2 of 3 places of the window along d6 read nothing but the padding: they are left out
// CHECK-LABEL: func.func @one_place
// CHECK: graph.constant {{.*}} : tensor<5x3x1x1xf32>
// CHECK-NOT: oob
// CHECK: return
// GIR: is a product: rows (1, 2), columns (5), sums over (3, 1)
#x = affine_map<(n, f, h, w, c, i, j) -> (n, c, h * 1 + i * 1 - 1, w * 1 + j * 1 - 1)>
#k = affine_map<(n, f, h, w, c, i, j) -> (f, c, i, j)>
#y = affine_map<(n, f, h, w, c, i, j) -> (n, f, h, w)>
func.func @one_place(%x: tensor<2x3x1x1xf32>) -> tensor<2x5x1x1xf32> {
  %w = graph.constant dense<0.5> : tensor<5x3x3x3xf32>
  %y = graph.compute ins(%x, %w : tensor<2x3x1x1xf32>, tensor<5x3x3x3xf32>) -> tensor<2x5x1x1xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>, maps = [#x, #k, #y], oob = [0.0 : f32, unit]} {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %b : f32
    graph.yield %m : f32
  }
  return %y : tensor<2x5x1x1xf32>
}

// -----

// Dilated so far that only the middle line is read; of the places along a line all are.
// SAID: 2 of 3 places of the window along d5 read nothing but the padding: they are left out
// SAID-NOT: along d6
// CHECK-LABEL: func.func @far
// CHECK: graph.constant {{.*}} : tensor<6x4x1x3xf32>
// CHECK: oob = [0.000000e+00 : f32, unit]
#x = affine_map<(n, f, h, w, c, i, j) -> (n, c, h * 1 + i * 12 - 12, w * 1 + j * 4 - 4)>
#k = affine_map<(n, f, h, w, c, i, j) -> (f, c, i, j)>
#y = affine_map<(n, f, h, w, c, i, j) -> (n, f, h, w)>
func.func @far(%x: tensor<1x4x7x9xf32>) -> tensor<1x6x7x9xf32> {
  %w = graph.constant dense<0.5> : tensor<6x4x3x3xf32>
  %y = graph.compute ins(%x, %w : tensor<1x4x7x9xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x7x9xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>, maps = [#x, #k, #y], oob = [0.0 : f32, unit]} {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %b : f32
    graph.yield %m : f32
  }
  return %y : tensor<1x6x7x9xf32>
}

// -----

// Results 2 lines apart: one reads the last line of the window, the other one the second. What is left begins and ends there.
// SAID: 1 of 4 places of the window along d5 read nothing but the padding: they are left out
// CHECK-LABEL: func.func @steps
// CHECK: graph.constant {{.*}} : tensor<3x2x3x2xf32>
#x = affine_map<(n, f, h, w, c, i, j) -> (n, c, h * 2 + i * 1 - 3, w * 3 + j * 1 - 1)>
#k = affine_map<(n, f, h, w, c, i, j) -> (f, c, i, j)>
#y = affine_map<(n, f, h, w, c, i, j) -> (n, f, h, w)>
func.func @steps(%x: tensor<1x2x1x5xf32>) -> tensor<1x3x2x2xf32> {
  %w = graph.constant dense<0.5> : tensor<3x2x4x2xf32>
  %y = graph.compute ins(%x, %w : tensor<1x2x1x5xf32>, tensor<3x2x4x2xf32>) -> tensor<1x3x2x2xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>, maps = [#x, #k, #y], oob = [0.0 : f32, unit]} {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %b : f32
    graph.yield %m : f32
  }
  return %y : tensor<1x3x2x2xf32>
}

// -----

// Weights that only a call knows may be infinite: what they add is no zero then.
// SAID: a window keeps places that read the padding alone: its weights are not known to be finite
// CHECK-LABEL: func.func @open_weights
// CHECK: graph.compute ins(%x, %w :
#x = affine_map<(n, f, h, w, c, i, j) -> (n, c, h * 1 + i * 1 - 1, w * 1 + j * 1 - 0)>
#k = affine_map<(n, f, h, w, c, i, j) -> (f, c, i, j)>
#y = affine_map<(n, f, h, w, c, i, j) -> (n, f, h, w)>
func.func @open_weights(%x: tensor<1x2x1x4xf32>, %w: tensor<3x2x3x1xf32>) -> tensor<1x3x1x4xf32> {
  %y = graph.compute ins(%x, %w : tensor<1x2x1x4xf32>, tensor<3x2x3x1xf32>) -> tensor<1x3x1x4xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>, maps = [#x, #k, #y], oob = [0.0 : f32, unit]} {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %b : f32
    graph.yield %m : f32
  }
  return %y : tensor<1x3x1x4xf32>
}

// -----

// SAID: a window keeps places that read the padding alone: its weights are not known to be finite
// CHECK-LABEL: func.func @infinite
// CHECK: graph.constant {{.*}} : tensor<3x2x3x1xf32>
#x = affine_map<(n, f, h, w, c, i, j) -> (n, c, h * 1 + i * 1 - 1, w * 1 + j * 1 - 0)>
#k = affine_map<(n, f, h, w, c, i, j) -> (f, c, i, j)>
#y = affine_map<(n, f, h, w, c, i, j) -> (n, f, h, w)>
func.func @infinite(%x: tensor<1x2x1x4xf32>) -> tensor<1x3x1x4xf32> {
  %w = graph.constant dense<0x7F800000> : tensor<3x2x3x1xf32>
  %y = graph.compute ins(%x, %w : tensor<1x2x1x4xf32>, tensor<3x2x3x1xf32>) -> tensor<1x3x1x4xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>, maps = [#x, #k, #y], oob = [0.0 : f32, unit]} {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %b : f32
    graph.yield %m : f32
  }
  return %y : tensor<1x3x1x4xf32>
}

// -----

// Of a map of two places all are read.
// CHECK-LABEL: func.func @inside
// CHECK: graph.constant {{.*}} : tensor<3x2x3x3xf32>
#x = affine_map<(n, f, h, w, c, i, j) -> (n, c, h * 1 + i * 1 - 1, w * 1 + j * 1 - 1)>
#k = affine_map<(n, f, h, w, c, i, j) -> (f, c, i, j)>
#y = affine_map<(n, f, h, w, c, i, j) -> (n, f, h, w)>
func.func @inside(%x: tensor<1x2x2x2xf32>) -> tensor<1x3x2x2xf32> {
  %w = graph.constant dense<0.5> : tensor<3x2x3x3xf32>
  %y = graph.compute ins(%x, %w : tensor<1x2x2x2xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x2x2xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>, maps = [#x, #k, #y], oob = [0.0 : f32, unit]} {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %b : f32
    graph.yield %m : f32
  }
  return %y : tensor<1x3x2x2xf32>
}
