// RUN: sutura-opt %s --stitch --convert-graph-to-gir | FileCheck %s
// RUN: sutura-opt %s --stitch --convert-graph-to-gir --plan-buffers --convert-gir-to-cpu --convert-rt-to-llvm | FileCheck %s --check-prefix=HOST

!table = tensor<30x20xf32>
!ids = tensor<?x?xi32, #dyn.shape<[B, S]>>
!rows = tensor<?x?x20xf32, #dyn.shape<[B, S, 20]>>

// What messages call a gather is no matter of its kernel: each launch says it.
// CHECK-LABEL: gir.kernel @twice_
// CHECK: gir.pick "graph.gather 'first'"
// CHECK-NOT: gir.kernel
// CHECK-LABEL: rt.program @twice(
// CHECK: launch @[[KERNEL:.*]](%arg0, %arg2, %arg3) dims
// CHECK-NOT: checks
// CHECK: launch @[[KERNEL]](%arg1, %arg2, %arg4) dims {{.*}} {checks = ["graph.gather 'second'"]}
// HOST: data_checks = [{kind = "index", what = "graph.gather 'first'"}, {kind = "index", what = "graph.gather 'second'"}]
func.func @twice(%table: !table, %other: !table, %ids: !ids) -> (!rows, !rows) {
  %B = dyn.symbol "B" : index
  %S = dyn.symbol "S" : index
  %a = graph.gather %table, %ids {axis = 0 : i64} : !table, !ids -> !rows loc("first")
  %b = graph.gather %other, %ids {axis = 0 : i64} : !table, !ids -> !rows loc("second")
  return %a, %b : !rows, !rows
}
