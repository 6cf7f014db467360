// RUN: sutura-opt %s --convert-graph-to-gir | FileCheck %s
// RUN: sutura-opt %s --convert-graph-to-gir --fold-launches --canonicalize | FileCheck %s --check-prefix=FOLDED

!x = tensor<?x8xf32, #dyn.shape<[M, 8]>>
!y = tensor<?x64xf32, #dyn.shape<[M, 64]>>
!z = tensor<?x40xf32, #dyn.shape<[M, 40]>>
#lhs = affine_map<(d0, d1, d2) -> (d0, d2)>
#rhs = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>

// Three products of one left factor, of which two are equally wide: they share a kernel, and all are one launch. A factor that is no
// constant goes by once for one row, is read as it lies for few, and packed by the groups of more.
// CHECK-COUNT-7: gir.kernel @siblings_contract
// CHECK-NOT: gir.kernel
// CHECK-LABEL: rt.program @siblings(
// CHECK: select if [-M + 1], [-M + 12] {
// CHECK-COUNT-3: packed {
// CHECK-NEXT: launch @[[P:.*]](%arg0, %{{.*}}, %arg2) dims [M]
// CHECK-NEXT: launch @[[P]](%arg0, %{{.*}}, %arg3) dims [M]
// CHECK-NEXT: launch @[[Q:.*]](%arg0, %arg1, %arg4) dims [M]
// CHECK-NEXT: }
// CHECK-NOT: launch

// FOLDED-LABEL: rt.program @siblings(
// FOLDED-COUNT-2: constant "folded
// FOLDED-COUNT-9: launch
// FOLDED-NOT: launch
func.func @siblings(%x: !x, %u: tensor<8x40xf32>) -> (!y, !y, !z) {
  %M = dyn.symbol "M" : index
  %q = graph.constant dense<1.0> : tensor<8x64xf32>
  %k = graph.constant dense<2.0> : tensor<8x64xf32>
  %a, %b, %c = graph.fusion(%x, %q, %k, %u : !x, tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x40xf32>) -> !y, !y, !z {
  ^bb0(%x_0: !x, %q_0: tensor<8x64xf32>, %k_0: tensor<8x64xf32>, %u_0: tensor<8x40xf32>):
    %M_0 = dyn.symbol "M" : index
    %a_0 = graph.compute ins(%x_0, %q_0 : !x, tensor<8x64xf32>) -> !y {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#lhs, #rhs, #out]} {
    ^bb0(%l: f32, %r: f32):
      %m = arith.mulf %l, %r : f32
      graph.yield %m : f32
    }
    %b_0 = graph.compute ins(%x_0, %k_0 : !x, tensor<8x64xf32>) -> !y {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#lhs, #rhs, #out]} {
    ^bb0(%l: f32, %r: f32):
      %m = arith.mulf %l, %r : f32
      graph.yield %m : f32
    }
    %c_0 = graph.compute ins(%x_0, %u_0 : !x, tensor<8x40xf32>) -> !z {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#lhs, #rhs, #out]} {
    ^bb0(%l: f32, %r: f32):
      %m = arith.mulf %l, %r : f32
      graph.yield %m : f32
    }
    graph.yield %a_0, %b_0, %c_0 : !y, !y, !z
  }
  return %a, %b, %c : !y, !y, !z
}
