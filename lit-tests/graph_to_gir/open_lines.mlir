// Where the length of a line is open, tiles of a convolution are as high as registers allow: of the last one those rows are computed that
// exist.

// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx512},func.func(stitch),schedule-regions)' | FileCheck %s
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx512},func.func(stitch),convert-graph-to-gir)' --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx512},func.func(stitch),convert-graph-to-gir,tensorize,convert-gir-to-cpu)' --check-passes=3 --strict -o /dev/null

#x = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5 - 1, d3 + d6 - 1)>
#w = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>
#y = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
!x = tensor<1x2x4x?xf32, #dyn.shape<[1, 2, 4, W]>>
!y = tensor<1x20x4x?xf32, #dyn.shape<[1, 20, 4, W]>>

// REMARK: remark: is a convolution: {{.*}}; tiles of 12x32, {{.*}}
// CHECK: version {
// CHECK: loop d3 by 12 {
// CHECK-NOT: version
func.func @open(%x: !x, %w: tensor<20x2x3x3xf32>) -> !y {
  %W = dyn.symbol "W" {range = [1, 40]} : index
  %c = graph.compute ins(%x, %w : !x, tensor<20x2x3x3xf32>) -> !y {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>, combiners = #graph.combiners<[add]>,
    maps = [#x, #w, #y], oob = [0.0 : f32, unit]
  } {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  return %c : !y
}
