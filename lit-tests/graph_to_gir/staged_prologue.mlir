// Units of a group share panels of a right factor that the region makes: they are packed first, and lie as a tensor does.
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=sm_80},func.func(stitch),schedule-regions)' -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: sutura-opt %t.mlir --pass-pipeline='builtin.module(convert-graph-to-gir)' --check-passes=2 --strict -o %t.scheduled
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=sm_80},func.func(stitch),convert-graph-to-gir)' --check-passes=2 --strict -o %t.direct
// RUN: diff %t.direct %t.scheduled

// CHECK: pack prod:[[#P:]].1
// CHECK: units {
// CHECK: cache prod:[[#P]].0
// CHECK: cache prod:[[#P]].1
!x = tensor<?x64xf32, #dyn.shape<[M, 64]>>
!w = tensor<64x64xf32>
func.func @dequantized(%x: !x, %stored: tensor<64x64xi8>, %scale: tensor<64xf32>) -> !x {
  %M = dyn.symbol "M" {range = [0, 4096]} : index
  %w = graph.compute ins(%stored, %scale : tensor<64x64xi8>, tensor<64xf32>) -> !w {iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>]} {
  ^bb0(%q: i8, %s: f32):
    %f = arith.sitofp %q : i8 to f32
    %v = arith.mulf %f, %s : f32
    graph.yield %v : f32
  }
  %prod = graph.compute ins(%x, %w : !x, !w) -> !x {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>]} {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  return %prod : !x
}
