// MLIR reads declarations and applications in generic form, and what it prints is read here.
// REQUIRES: mlir-opt
// RUN: sutura-opt %S/expand.mlir --mlir-print-op-generic | mlir-opt --allow-unregistered-dialect --mlir-print-op-generic -o %t.theirs
// RUN: sutura-opt %t.theirs --expand-operators --check-passes -o %t.out
// RUN: FileCheck %s --input-file=%t.out

// CHECK-NOT: graph.apply
// CHECK: func.func @rows
// CHECK: graph.compute
