// The program of docs/declaring-operators.md.
// RUN: sed -n '/^```mlir$/,/^```$/p' %S/../../docs/declaring-operators.md > %t.blocks
// RUN: sed '/^```/d' %t.blocks > %t.mlir
// RUN: sutura-opt %t.mlir --propagate-shapes --expand-operators --check-passes -o %t.out
// RUN: FileCheck %s --input-file=%t.out

// The same with the declaration in a file of its own.
// RUN: sed '/^func.func/,/^}/d' %t.mlir > %t.operators.mlir
// RUN: sed -n '/^func.func/,/^}/p' %t.mlir > %t.program.mlir
// RUN: sutura-opt %t.program.mlir --operators %t.operators.mlir --propagate-shapes --expand-operators | FileCheck %s
// RUN: not sutura-opt %t.program.mlir 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: not sutura-opt %t.program.mlir --operators %S/shapes.mlir 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not sutura-opt %t.program.mlir --operators %t.nowhere 2>&1 | FileCheck %s --check-prefix=NOWHERE

// CHECK: func.func @main
// CHECK: graph.compute ins(%x : tensor<?x3x4xf16, #dyn.shape<[B, 3, 4]>>) -> tensor<?x4xf16, #dyn.shape<[B, 4]>>
// CHECK-SAME: iterators = #graph.iterators<[parallel, reduce, parallel]>
// CHECK: graph.compute
// CHECK: return

// ALONE: 'graph.apply' op 'scale_to_one' is no operator that is declared
// NONE: 'func.func' op is no declaration of an operator
// NOWHERE: cannot read '{{.*}}nowhere'
