// A window of one place on a map of one place moves nowhere: the convolution is a product of batch and channels.

// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx512},func.func(stitch),convert-graph-to-gir)' | FileCheck %s
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx512},func.func(stitch),convert-graph-to-gir)' --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx512},func.func(stitch),convert-graph-to-gir,tensorize,convert-gir-to-cpu)' --check-passes=3 --strict -o /dev/null
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=sm_80},func.func(stitch),convert-graph-to-gir,tensorize)' --check-passes=2 --strict -o /dev/null

#x = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5, d3 + d6)>
#w = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>
#y = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
!x = tensor<?x96x1x1xf32, #dyn.shape<[B, 96, 1, 1]>>
!y = tensor<?x24x1x1xf32, #dyn.shape<[B, 24, 1, 1]>>

// REMARK: remark: is a product: rows (1, B), columns (24), sums over (96, 1); tiles of 12x32
// CHECK: gir.contract {{.*}} : !gir.tile<vec, f32, [12, 1]>, !gir.tile<vec, f32, [1, 32]>, !gir.tile<vec, f32, [12, 32]>
// CHECK-LABEL: rt.program @batch
func.func @batch(%x: !x, %w: tensor<24x96x1x1xf32>) -> !y {
  %B = dyn.symbol "B" {range = [0, 40]} : index
  %c = graph.compute ins(%x, %w : !x, tensor<24x96x1x1xf32>) -> !y {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>, combiners = #graph.combiners<[add]>, maps = [#x, #w, #y]
  } {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  return %c : !y
}

// REMARK: remark: is a product: rows (24), columns (1, 3), sums over (96, 1); tiles of 12x16
// CHECK: gir.contract
// CHECK-LABEL: rt.program @three
func.func @three(%x: tensor<3x96x1x1xf32>, %w: tensor<24x96x1x1xf32>) -> tensor<3x24x1x1xf32> {
  %c = graph.compute ins(%x, %w : tensor<3x96x1x1xf32>, tensor<24x96x1x1xf32>) -> tensor<3x24x1x1xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>, combiners = #graph.combiners<[add]>, maps = [#x, #w, #y]
  } {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  return %c : tensor<3x24x1x1xf32>
}

#xr = affine_map<(d0, d1, d2, d3) -> (d0, d3)>
#wr = affine_map<(d0, d1, d2, d3) -> (d1, d3)>
#yr = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>

// Where there are two places, both are the same: that is no product.
// CHECK-NOT: gir.contract %
// CHECK-LABEL: rt.program @repeated
func.func @repeated(%x: tensor<3x96xf32>, %w: tensor<24x96xf32>) -> tensor<3x24x2xf32> {
  %c = graph.compute ins(%x, %w : tensor<3x96xf32>, tensor<24x96xf32>) -> tensor<3x24x2xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#xr, #wr, #yr]
  } {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  return %c : tensor<3x24x2xf32>
}
