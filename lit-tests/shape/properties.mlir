// A type has room for several properties; passes change their own and keep the others.
// RUN: sutura-opt %s --allow-unregistered-dialect --propagate-shapes | FileCheck %s
// RUN: sutura-opt %s --allow-unregistered-dialect --materialize-encodings | FileCheck %s --check-prefix=ADD
// RUN: sutura-opt %s --allow-unregistered-dialect --materialize-encodings --strip-encodings | FileCheck %s --check-prefix=STRIP
// RUN: sutura-opt %s --allow-unregistered-dialect --mlir-print-op-generic | sutura-opt --allow-unregistered-dialect | FileCheck %s --check-prefix=SAME

// CHECK-LABEL: func.func @kept
// CHECK-SAME: (%x: tensor<?x4xf32, {shard = #mesh.axes<[x]>, sizes = #dyn.shape<[N, 4]>}>)
// CHECK-SAME: -> tensor<?xf32, {quant = "per-tensor", sizes = #dyn.shape<[4*N]>}>
// SAME-LABEL: func.func @kept
// SAME-SAME: (%x: tensor<?x4xf32, {shard = #mesh.axes<[x]>, sizes = #dyn.shape<[N, 4]>}>) -> tensor<?xf32, {quant = "per-tensor"}>
func.func @kept(%x: tensor<?x4xf32, {shard = #mesh.axes<[x]>, sizes = #dyn.shape<[N, 4]>}>)
    -> tensor<?xf32, {quant = "per-tensor"}> {
  // CHECK: graph.reshape %x :
  // CHECK-SAME: -> tensor<?xf32, {quant = "per-tensor", sizes = #dyn.shape<[4*N]>}>
  %y = graph.reshape %x
      : tensor<?x4xf32, {shard = #mesh.axes<[x]>, sizes = #dyn.shape<[N, 4]>}> -> tensor<?xf32, {quant = "per-tensor"}>
  return %y : tensor<?xf32, {quant = "per-tensor"}>
}

// What stands alone and is not known gets a name when sizes come to it, and stands alone again when they go.
// ADD-LABEL: func.func @alone
// ADD-SAME: (%x: tensor<?xf32, {encoding = #sparse.csr<4>, sizes = #dyn.shape<[?]>}>)
// STRIP-LABEL: func.func @alone
// STRIP-SAME: (%x: tensor<?xf32, #sparse.csr<4>>) -> tensor<?xf32, #sparse.csr<4>>
func.func @alone(%x: tensor<?xf32, #sparse.csr<4>>) -> tensor<?xf32, #sparse.csr<4>> {
  return %x : tensor<?xf32, #sparse.csr<4>>
}
