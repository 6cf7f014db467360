// Parts of a sum of products, stored in tiles with rows and added up in order: as the sum is stored, and turned.
// RUN: sutura-opt %s --convert-graph-to-gir | FileCheck %s
// RUN: sutura-opt %s --check-passes --strict --pass-pipeline='builtin.module(convert-graph-to-gir,convert-gir-to-cpu)' -o /dev/null

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

!a = tensor<?x?xf32, #dyn.shape<[M, K]>>
!b = tensor<?x?xf32, #dyn.shape<[K, N]>>
!bt = tensor<?x?xf32, #dyn.shape<[N, K]>>
!c = tensor<?x?xf32, #dyn.shape<[M, N]>>

// CHECK-LABEL: gir.kernel @straight_contract0(
// CHECK-SAME: !gir.view<dram, f32, [(K + 6) floordiv 7, M, N]> out)
// CHECK: gir.store {{.*}} !gir.tile<vec, f32, [3, 16]>, !gir.slice<dram, f32, [3, 16]>
// CHECK-LABEL: gir.kernel @straight_contract1(
// CHECK: gir.for %{{.*}} = %c0 to %{{.*}} carry
func.func @straight(%a: !a, %b: !b) -> !c {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %K = dyn.symbol "K" : index
  %r = graph.fusion(%a, %b : !a, !b) -> !c {schedule = #schedule.tree<version {
    kernel { loop d2 by 7 grid { loop d1 by 16 grid { cache p:0.1 cols d1 in l1 padded { loop d2 { operand p:0.1 cols d1 in vec padded } } loop d0 by 3 { loop d2 { contract p:0 rows d0 cols d1 in vec } } } } }
    kernel { loop d0 grid { loop d1 by 32 grid { join p:0 cols d1 in vec } } }
  }>} {
  ^bb0(%a_0: !a, %b_0: !b):
    %M_0 = dyn.symbol "M" : index
    %N_0 = dyn.symbol "N" : index
    %K_0 = dyn.symbol "K" : index
    %p = graph.compute ins(%a_0, %b_0 : !a, !b) -> !c {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#a, #b, #c]} {
    ^bb0(%l: f32, %s: f32):
      %m = arith.mulf %l, %s : f32
      graph.yield %m : f32
    }
    graph.yield %p : !c
  }
  return %r : !c
}

// CHECK-LABEL: gir.kernel @turned_contract0(
// CHECK: %[[TURNED:.*]] = gir.transpose
// CHECK: gir.store %[[TURNED]], %{{.*}} : !gir.tile<vec, f32, [16, 3]>, !gir.slice<dram, f32, [16, 3]>
func.func @turned(%a: !a, %b: !bt) -> !c {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %K = dyn.symbol "K" : index
  %r = graph.fusion(%a, %b : !a, !bt) -> !c {schedule = #schedule.tree<version {
    kernel { loop d2 by 6 grid { loop d0 by 16 grid { loop d1 by 3 grid { loop d2 { contract p:0 rows d1 cols d0 in vec } } } } }
    kernel { loop d0 grid { loop d1 by 32 grid { join p:0 cols d1 in vec } } }
  }>} {
  ^bb0(%a_0: !a, %b_0: !bt):
    %M_0 = dyn.symbol "M" : index
    %N_0 = dyn.symbol "N" : index
    %K_0 = dyn.symbol "K" : index
    %p = graph.compute ins(%a_0, %b_0 : !a, !bt) -> !c {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#a, #bt, #c]} {
    ^bb0(%l: f32, %s: f32):
      %m = arith.mulf %l, %s : f32
      graph.yield %m : f32
    }
    graph.yield %p : !c
  }
  return %r : !c
}
