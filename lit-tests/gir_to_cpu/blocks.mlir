// Rows of a block store what they put off while the next row computes, as groups do, and mean the same.

// RUN: sutura-opt %s --pass-pipeline='builtin.module(func.func(canonicalize,stitch),convert-graph-to-gir,plan-buffers,gir-cache-hints,convert-gir-to-cpu)' --check-passes | FileCheck %s

// CHECK: llvm.alloca {{.*}} x i1
// CHECK: arith.minsi
// CHECK: nontemporal

target.machine @m {triple = "x86_64-unknown-linux-gnu", features = "+avx512f"} {
  target.space @vec {class = "reg", owner = "unit", bytes = 2048, vector = 64}
  target.space @l1 {class = "sram", owner = "unit", bytes = 32768, align = 64, cached}
  target.space @l2 {class = "sram", owner = "unit", bytes = 1048576, align = 64, cached}
  target.space @dram {class = "dram", owner = "all", stream = 512}
}
!m = tensor<37x256xf32>
!c = tensor<37x1xf32>
!v = tensor<256xf32>
#id = affine_map<(d0, d1) -> (d0, d1)>
#first = affine_map<(d0, d1) -> (d0, 0)>
#second = affine_map<(d0, d1) -> (d1)>
func.func @f(%x: !m, %mask: !v) -> !m {
  %e = graph.compute ins(%x, %mask : !m, !v) -> !m {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #second, #id]} {
  ^bb0(%a: f32, %b: f32):
    %v = arith.addf %a, %b : f32
    %w = math.exp %v : f32
    graph.yield %w : f32
  }
  %s = graph.compute ins(%e : !m) -> !c {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #first]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %y = graph.compute ins(%e, %s : !m, !c) -> !m {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #id]} {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  return %y : !m
}
