// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx512},func.func(stitch),convert-graph-to-gir)' | FileCheck %s
// RUN: sutura-opt %s --check-passes --pass-pipeline='builtin.module(attach-target{name=x86_avx2},func.func(stitch),convert-graph-to-gir)' -o %t
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=sm_80},func.func(stitch),convert-graph-to-gir)' | FileCheck %s --check-prefix=GPU

#w = affine_map<(d0, d1, d2, d3) -> (d0, d3)>
#x = affine_map<(d0, d1, d2, d3) -> (d3, d1, d2)>
#y = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>

// A 1x1 convolution on a map of 7x7: panels of its 49 places would be computed to a quarter in vain, and packed in each run. The
// constant weights are packed, and tiles have ten places as rows, so that five of them are all. They are stored turned.
// CHECK-LABEL: gir.kernel @small_contract0(
// CHECK-SAME: !gir.view<dram, f32, [64, 256]> in, %{{.*}} : !gir.view<dram, f32, [2, 256, 32]> out
// CHECK-LABEL: gir.kernel @small_contract1(
// CHECK-SAME: grid(%{{.*}} = 2, %{{.*}} = 5)
// CHECK: gir.contract {{.*}} !gir.tile<vec, f32, [10, 32]>
// CHECK: gir.transpose
// GPU-LABEL: gir.kernel @small_contract
func.func @small(%x: tensor<256x7x7xf32>) -> tensor<64x7x7xf32> {
  %w = graph.constant dense<0.5> : tensor<64x256xf32>
  %c = graph.compute ins(%w, %x : tensor<64x256xf32>, tensor<256x7x7xf32>) -> tensor<64x7x7xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#w, #x, #y]
  } {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  return %c : tensor<64x7x7xf32>
}

// Where panels are whole and little is summed, tiles are stored as they are.
// CHECK-LABEL: gir.kernel @large_contract{{[0-9]}}(
// CHECK-NOT: gir.transpose
// CHECK: rt.program @large
func.func @large(%x: tensor<32x64x64xf32>) -> tensor<64x64x64xf32> {
  %w = graph.constant dense<0.5> : tensor<64x32xf32>
  %c = graph.compute ins(%w, %x : tensor<64x32xf32>, tensor<32x64x64xf32>) -> tensor<64x64x64xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#w, #x, #y]
  } {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  return %c : tensor<64x64x64xf32>
}

// Nothing is known to be constant: the other factor is packed in each run, by the groups that read it. Its numbers lie side by side along the sum, so that this takes
// less than what was computed in vain.
// CHECK-LABEL: gir.kernel @anew_contract0(
// CHECK: gir.load {{.*}} -> !gir.tile<vec, f32, [32, 16]>
// CHECK: gir.transpose
// CHECK: gir.store {{.*}} !gir.slice<l1, f32, [16, 32]>
// CHECK: gir.contract {{.*}} !gir.tile<vec, f32, [10, 32]>
// CHECK: rt.program @anew
func.func @anew(%w: tensor<64x256xf32>, %x: tensor<256x7x7xf32>) -> tensor<64x7x7xf32> {
  %c = graph.compute ins(%w, %x : tensor<64x256xf32>, tensor<256x7x7xf32>) -> tensor<64x7x7xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#w, #x, #y]
  } {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  return %c : tensor<64x7x7xf32>
}
