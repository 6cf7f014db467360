// The length of a string is that of its bytes.
// RUN: sutura-opt %s --print-op-generic | FileCheck %s

// CHECK: global_type = !llvm.array<3 x i8>
// CHECK-SAME: value = "\FF\80a"
llvm.mlir.global internal constant @bytes("\FF\80a")
