// A contraction of floats takes several places of its sum at a time where they divide it: of factors as they lie, of one that was packed, and of
// one packed near. Its sums are the same, in the same order.

// RUN: sutura-opt %s --split-input-file --pass-pipeline='builtin.module(attach-target{name=x86_avx512},convert-graph-to-gir,tensorize)' | FileCheck %s
// RUN: sutura-opt %s --split-input-file --check-passes --pass-pipeline='builtin.module(attach-target{name=x86_avx512},convert-graph-to-gir,tensorize)' -o %t

#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>

// CHECK-LABEL: gir.kernel @packed_contract1(
// CHECK: gir.for %{{.*}} = %{{.*}} to %c6 carry
// CHECK: gir.slice %{{.*}} rows(0) cols(1) : !gir.view<dram, f32, [M, 24]> -> !gir.slice<dram, f32, [6, 4]>
// CHECK: gir.slice %{{.*}} rows(1) cols(2) : !gir.view<dram, f32, [2, 24, 32]> -> !gir.slice<dram, f32, [4, 32]>
// CHECK: gir.intrinsic @fma_f32_6x32({{.*}}) : (!gir.tile<vec, f32, [6, 4]>, !gir.tile<vec, f32, [4, 32]>, !gir.tile<vec, f32, [6, 32]>)
func.func @packed(%x: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %w: tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {
  %M = dyn.symbol "M" : index
  %y = graph.fusion(%x, %w : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {schedule = #schedule.tree<
    version { kernel { loop d1 by 32 grid { loop d2 { pack p:0.1 cols d1 in vec padded } } } kernel { loop d1 by 32 grid { loop d0 by 6 grid { loop d2 by 4 { contract p:0 rows d0 cols d1 in vec } } } } }
  >} {
  ^bb0(%a: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %b: tensor<24x40xf32>):
    %M = dyn.symbol "M" : index
    %p = graph.compute ins(%a, %b : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%l: f32, %r: f32):
      %v = arith.mulf %l, %r : f32
      graph.yield %v : f32
    }
    graph.yield %p : tensor<?x40xf32, #dyn.shape<[M, 40]>>
  }
  return %y : tensor<?x40xf32, #dyn.shape<[M, 40]>>
}

// -----

#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>

// CHECK-LABEL: gir.kernel @as_it_lies_contract0(
// CHECK: gir.contract %{{.*}} : !gir.tile<vec, f32, [5, 3]>, !gir.tile<vec, f32, [3, 32]>, !gir.tile<vec, f32, [5, 32]>
func.func @as_it_lies(%x: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %w: tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {
  %M = dyn.symbol "M" : index
  %y = graph.fusion(%x, %w : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {schedule = #schedule.tree<
    version { kernel { loop d1 by 32 grid { loop d0 by 5 grid { loop d2 by 3 { contract p:0 rows d0 cols d1 in vec } } } } }
  >} {
  ^bb0(%a: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %b: tensor<24x64xf32>):
    %M = dyn.symbol "M" : index
    %p = graph.compute ins(%a, %b : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%l: f32, %r: f32):
      %v = arith.mulf %l, %r : f32
      graph.yield %v : f32
    }
    graph.yield %p : tensor<?x64xf32, #dyn.shape<[M, 64]>>
  }
  return %y : tensor<?x64xf32, #dyn.shape<[M, 64]>>
}

// -----

#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>

// CHECK-LABEL: gir.kernel @near_contract0(
// CHECK: gir.intrinsic @fma_f32_12x32({{.*}}) : (!gir.tile<vec, f32, [12, 2]>, !gir.tile<vec, f32, [2, 32]>, !gir.tile<vec, f32, [12, 32]>)
func.func @near(%x: tensor<?x?xf32, #dyn.shape<[M, 2*K]>>, %w: tensor<?x40xf32, #dyn.shape<[2*K, 40]>>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {
  %M = dyn.symbol "M" {range = [0, 500]} : index
  %K = dyn.symbol "K" {range = [0, 500]} : index
  %y = graph.fusion(%x, %w : tensor<?x?xf32, #dyn.shape<[M, 2*K]>>, tensor<?x40xf32, #dyn.shape<[2*K, 40]>>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {schedule = #schedule.tree<
    version { kernel { loop d1 by 32 grid { loop d0 by 24 grid { cache p:0.1 cols d1 in l1 padded { loop d2 { operand p:0.1 cols d1 in vec padded } } loop d0 by 12 { loop d2 by 2 { contract p:0 rows d0 cols d1 in vec } } } } } }
  >} {
  ^bb0(%a: tensor<?x?xf32, #dyn.shape<[M, 2*K]>>, %b: tensor<?x40xf32, #dyn.shape<[2*K, 40]>>):
    %M = dyn.symbol "M" {range = [0, 500]} : index
    %K = dyn.symbol "K" {range = [0, 500]} : index
    %p = graph.compute ins(%a, %b : tensor<?x?xf32, #dyn.shape<[M, 2*K]>>, tensor<?x40xf32, #dyn.shape<[2*K, 40]>>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%l: f32, %r: f32):
      %v = arith.mulf %l, %r : f32
      graph.yield %v : f32
    }
    graph.yield %p : tensor<?x40xf32, #dyn.shape<[M, 40]>>
  }
  return %y : tensor<?x40xf32, #dyn.shape<[M, 40]>>
}
