// Paddings become a part of the reads of what combines elements.

// RUN: sutura-opt %s --fold-padding --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=SAID
// RUN: sutura-opt %s --fold-padding | FileCheck %s
// RUN: sutura-opt %s --check-passes --pass-pipeline='builtin.module(fold-padding)' -o %t
// RUN: sutura-opt %s --check-passes --pass-pipeline='builtin.module(attach-target{name=x86_avx512},fold-padding,channels-last,func.func(stitch),convert-graph-to-gir)' -o %t
// RUN: sutura-opt %t | FileCheck %s --check-prefix=GIR

#id = affine_map<(n, c, h, w) -> (n, c, h, w)>
#pad = affine_map<(n, c, h, w) -> (n, c, h - 1, w - 2)>
#x = affine_map<(n, f, h, w, c, i, j) -> (n, c, h + i, w + j)>
#k = affine_map<(n, f, h, w, c, i, j) -> (f, c, i, j)>
#y = affine_map<(n, f, h, w, c, i, j) -> (n, f, h, w)>

// Rows and columns more before than behind, sizes that only a call knows.
// SAID: remark: %p is no tensor: what reads it pads
// CHECK-DAG: affine_map<(d0, d1)[s0] -> (d0 - s0, d1 + 2)>
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5 - 1, d3 + d6 - 2)>
// CHECK-LABEL: func.func @convolution
// CHECK-NEXT: dyn.symbol
// CHECK-NEXT: dyn.symbol
// CHECK-NEXT: graph.compute ins(%x, %w :
// CHECK-SAME: maps = [#[[X]],
// CHECK-SAME: oob = [0.000000e+00 : f32, unit]
// GIR-LABEL: gir.kernel @convolution_
// GIR-NOT: gir.kernel @convolution_row
// GIR: rt.program @convolution
func.func @convolution(%x: tensor<1x8x?x?xf32, #dyn.shape<[1, 8, H, W]>>, %w: tensor<16x8x3x3xf32>) -> tensor<1x16x?x?xf32, #dyn.shape<[1, 16, H, W]>> {
  %H = dyn.symbol "H" {range = [1, 50]} : index
  %W = dyn.symbol "W" {range = [1, 50]} : index
  %p = graph.compute ins(%x : tensor<1x8x?x?xf32, #dyn.shape<[1, 8, H, W]>>) -> tensor<1x8x?x?xf32, #dyn.shape<[1, 8, H + 2, W + 2]>> {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#pad, #id], oob = [0.0 : f32]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %y = graph.compute ins(%p, %w : tensor<1x8x?x?xf32, #dyn.shape<[1, 8, H + 2, W + 2]>>, tensor<16x8x3x3xf32>) -> tensor<1x16x?x?xf32, #dyn.shape<[1, 16, H, W]>> {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>, combiners = #graph.combiners<[add]>, maps = [#x, #k, #y]} {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %b : f32
    graph.yield %m : f32
  }
  return %y : tensor<1x16x?x?xf32, #dyn.shape<[1, 16, H, W]>>
}

// A pool of maxima that pads with the same number itself, behind a padding behind a padding.
#around = affine_map<(n, c, h, w) -> (n, c, h - 1, w - 1)>
#in = affine_map<(n, c, h, w, i, j) -> (n, c, h * 2 + i - 1, w * 2 + j - 1)>
#window = affine_map<(n, c, h, w, i, j) -> (i, j)>
#out = affine_map<(n, c, h, w, i, j) -> (n, c, h, w)>
// SAID: remark: %q is no tensor: what reads it pads
// SAID: remark: %p is no tensor: what reads it pads
// CHECK-LABEL: func.func @pool
// CHECK-NEXT: graph.compute ins(%x, %s : tensor<2x3x9x9xf32>, tensor<3x3xi1>)
// CHECK-SAME: oob = [0.000000e+00 : f32, unit]
// GIR-LABEL: rt.program @pool
func.func @pool(%x: tensor<2x3x9x9xf32>, %s: tensor<3x3xi1>) -> tensor<2x3x7x7xf32> {
  %p = graph.compute ins(%x : tensor<2x3x9x9xf32>) -> tensor<2x3x11x11xf32> {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#around, #id], oob = [0.0 : f32]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %q = graph.compute ins(%p : tensor<2x3x11x11xf32>) -> tensor<2x3x13x13xf32> {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#around, #id], oob = [0.0 : f32]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %y = graph.compute ins(%q, %s : tensor<2x3x13x13xf32>, tensor<3x3xi1>) -> tensor<2x3x7x7xf32> {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce]>, combiners = #graph.combiners<[max]>, maps = [#in, #window, #out], oob = [0.0 : f32, unit]} {
  ^bb0(%a: f32, %b: i1):
    graph.yield %a : f32
  }
  return %y : tensor<2x3x7x7xf32>
}

// A number of places that is a size of the model; of the columns the last two of four are read.
#sized = affine_map<(m, n)[s] -> (m - s, n + 2)>
#ids = affine_map<(m, n) -> (m, n)>
#first = affine_map<(m, n) -> (m)>
#second = affine_map<(m, n) -> (n)>
// SAID: remark: %p is no tensor: what reads it pads
// CHECK-LABEL: func.func @sized
// CHECK: graph.compute ins(%x, %w : tensor<?x4xf32, #dyn.shape<[M, 4]>>, tensor<?xf32, #dyn.shape<[M + 2*P]>>) -> tensor<2xf32>
// CHECK-SAME: oob = [1.000000e+00 : f32, unit], sizes = #dyn.shape<[P]>
// GIR-LABEL: rt.program @sized
func.func @sized(%x: tensor<?x4xf32, #dyn.shape<[M, 4]>>, %w: tensor<?xf32, #dyn.shape<[M + 2*P]>>, %given: tensor<?xf32, #dyn.shape<[P]>>) -> tensor<2xf32> {
  %M = dyn.symbol "M" {range = [0, 9]} : index
  %P = dyn.symbol "P" {range = [0, 9]} : index
  %p = graph.compute ins(%x : tensor<?x4xf32, #dyn.shape<[M, 4]>>) -> tensor<?x2xf32, #dyn.shape<[M + 2*P, 2]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#sized, #ids], oob = [1.0 : f32], sizes = #dyn.shape<[P]>} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %y = graph.compute ins(%p, %w : tensor<?x2xf32, #dyn.shape<[M + 2*P, 2]>>, tensor<?xf32, #dyn.shape<[M + 2*P]>>) -> tensor<2xf32> {iterators = #graph.iterators<[reduce, parallel]>, combiners = #graph.combiners<[add]>, maps = [#ids, #first, #second]} {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %b : f32
    graph.yield %m : f32
  }
  return %y : tensor<2xf32>
}

// What the window reads lies inside, so nothing is padded any more.
#two = affine_map<(h, i) -> (h + i + 1)>
#win = affine_map<(h, i) -> (i)>
#line = affine_map<(h, i) -> (h)>
#one = affine_map<(h) -> (h - 1)>
#same = affine_map<(h) -> (h)>
// SAID: remark: %p is no tensor: what reads it pads
// CHECK-LABEL: func.func @inside
// CHECK-NEXT: graph.compute ins(%x, %w :
// CHECK-NOT: oob
// CHECK: return
func.func @inside(%x: tensor<9xf32>, %w: tensor<3xf32>) -> tensor<7xf32> {
  %p = graph.compute ins(%x : tensor<9xf32>) -> tensor<11xf32> {iterators = #graph.iterators<[parallel]>, maps = [#one, #same], oob = [0.0 : f32]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %y = graph.compute ins(%p, %w : tensor<11xf32>, tensor<3xf32>) -> tensor<7xf32> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#two, #win, #line]} {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %b : f32
    graph.yield %m : f32
  }
  return %y : tensor<7xf32>
}
