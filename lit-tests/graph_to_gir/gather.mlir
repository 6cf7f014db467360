// RUN: sutura-opt %s --stitch | FileCheck %s --check-prefix=PLAN
// RUN: sutura-opt %s --stitch --convert-graph-to-gir | FileCheck %s
// RUN: sutura-opt %s --stitch --convert-graph-to-gir --plan-buffers --convert-gir-to-cpu --convert-rt-to-llvm 2>/dev/null | FileCheck %s --check-prefix=HOST

!table = tensor<30x20xf32>
!ids = tensor<?x?xi32, #dyn.shape<[B, S]>>
!rows = tensor<?x?x20xf32, #dyn.shape<[B, S, 20]>>
#three = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// Rows of a table are read as rows, where something is made of them.
// PLAN-LABEL: func.func @embedding
// PLAN-COUNT-1: graph.fusion
// CHECK-LABEL: gir.kernel @embedding_row0(
// CHECK-SAME: grid(%[[I:.*]] = B*S)
// CHECK: %[[ID:.*]] = gir.load %{{.*}} -> !gir.tile<vec, i32, [1, 1]>
// CHECK: %[[AT:.*]] = gir.pick "graph.gather 'words'" %[[ID]] below %c30 at %[[I]] : !gir.tile<vec, i32, [1, 1]>
// CHECK: gir.slice %{{.*}}[%[[AT]], %c0] cols(1) : {{.*}} -> !gir.slice<dram, f32, [1, 20]>
// CHECK: gir.unary "neg"
// CHECK-NOT: gir.kernel
// CHECK: launch @embedding_row0
// HOST: data_checks = [{kind = "index", what = "graph.gather 'words'"}
// HOST-LABEL: func.func @embedding_row0
// HOST: llvm.call %{{.*}} : !llvm.ptr, (!llvm.ptr, i64, i64, i64, i64) -> ()
// HOST-LABEL: func.func @sutura_run
func.func @embedding(%table: !table, %ids: !ids) -> !rows {
  %B = dyn.symbol "B" : index
  %S = dyn.symbol "S" : index
  %e = graph.gather %table, %ids {axis = 0 : i64} : !table, !ids -> !rows loc("words")
  %y = graph.compute ins(%e : !rows) -> !rows {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#three, #three]} {
  ^bb0(%a: f32):
    %0 = arith.negf %a : f32
    graph.yield %0 : f32
  }
  return %y : !rows
}
