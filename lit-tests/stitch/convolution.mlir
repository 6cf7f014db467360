// RUN: sutura-opt %s --stitch | FileCheck %s
// RUN: sutura-opt %s --stitch --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=sm_80},stitch)' --remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=GPU

// Groups of a GPU do not keep near what windows cover.
// GPU: a region of the family 'loop'
// GPU: a region of the family 'row'

!x = tensor<?x2x?x?xf32, #dyn.shape<[B, 2, H, W]>>
!w = tensor<3x2x3x3xf32>
!y = tensor<?x3x?x?xf32, #dyn.shape<[B, 3, H, W]>>
#x = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5 - 1, d3 + d6 - 1)>
#w = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>
#y = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>

// A convolution is a product by the dims that its factors share, and what follows it runs on its tiles.
// CHECK-LABEL: func.func @convolution
// CHECK: graph.fusion(%x, %w :
// CHECK: graph.compute
// CHECK: graph.compute
// CHECK-NOT: graph.fusion
func.func @convolution(%x: !x, %w: !w) -> !y {
  %B = dyn.symbol "B" : index
  %H = dyn.symbol "H" {range = [4, 4096]} : index
  %W = dyn.symbol "W" {range = [4, 4096]} : index
  // REMARK: convolution.mlir:[[#@LINE+1]]:8: remark: a region of the family 'contract' with 2 ops
  %c = graph.compute ins(%x, %w : !x, !w) -> !y {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>, combiners = #graph.combiners<[add]>,
    maps = [#x, #w, #y], oob = [0.0 : f32, unit]
  } {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  %r = graph.compute ins(%c : !y) -> !y {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %zero = arith.constant 0.0 : f32
    %v = arith.maximumf %a, %zero : f32
    graph.yield %v : f32
  }
  return %r : !y
}
