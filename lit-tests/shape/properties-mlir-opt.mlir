// MLIR reads types with several properties, and what it prints is read here.
// REQUIRES: mlir-opt
// RUN: sutura-opt %S/properties.mlir --allow-unregistered-dialect --propagate-shapes --mlir-print-op-generic | mlir-opt --allow-unregistered-dialect --mlir-print-op-generic -o %t.theirs
// RUN: sutura-opt %t.theirs --allow-unregistered-dialect | FileCheck %s

// CHECK: func.func @kept(%arg0: tensor<?x4xf32, {shard = #mesh.axes<[x]>, sizes = #dyn.shape<[N, 4]>}>) -> tensor<?xf32, {quant = "per-tensor", sizes = #dyn.shape<[4*N]>}>
// CHECK: graph.reshape %arg0
// CHECK: func.func @alone(%arg0: tensor<?xf32, {encoding = #sparse.csr<4>, sizes = #dyn.shape<[x_0]>}>)
