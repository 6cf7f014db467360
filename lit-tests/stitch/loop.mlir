// RUN: sutura-opt %s --stitch | FileCheck %s
// RUN: sutura-opt %s --stitch --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

!x = tensor<?x2x?x?xf64, #dyn.shape<[B, 2, H, W]>>
!w = tensor<3x2x3x3xf64>
!y = tensor<?x3x?x?xf64, #dyn.shape<[B, 3, H, W]>>
#x = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 - d5 + 1, d3 - d6 + 1)>
#w = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>
#y = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>

// A convolution that reads its window backward: a loop of its own, with the reason. The ops around it are rows.
// CHECK-LABEL: func.func @convolution
// CHECK: %[[C:.*]] = graph.fusion(%x, %w :
// CHECK: graph.fusion(%[[C]] :
// CHECK-SAME: {reasons = ["%c: %c is a loop of its own: it
func.func @convolution(%x: !x, %w: !w) -> !y {
  %B = dyn.symbol "B" : index
  %H = dyn.symbol "H" {range = [4, 4096]} : index
  %W = dyn.symbol "W" {range = [4, 4096]} : index
  // REMARK: loop.mlir:[[#@LINE+2]]:8: remark: a region of the family 'loop' with 1 op
  // REMARK: loop.mlir:[[#@LINE+1]]:8: remark: a loop of its own: it combines along several dimensions (2, 3, 3)
  %c = graph.compute ins(%x, %w : !x, !w) -> !y {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>, combiners = #graph.combiners<[add]>,
    maps = [#x, #w, #y], oob = [0.0 : f64, unit]
  } {
  ^bb0(%a: f64, %b: f64):
    %v = arith.mulf %a, %b : f64
    graph.yield %v : f64
  }
  // REMARK: loop.mlir:[[#@LINE+2]]:8: remark: a region of the family 'row' with 1 op
  // REMARK: loop.mlir:[[#@LINE+1]]:8: remark: not stitched with %c: %c is a loop of its own: it combines along several dimensions (2, 3, 3)
  %r = graph.compute ins(%c : !y) -> !y {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f64):
    %zero = arith.constant 0.0 : f64
    %v = arith.maximumf %a, %zero : f64
    graph.yield %v : f64
  }
  return %r : !y
}
