// mlir-opt, which knows no schedules, keeps them as they are.
// REQUIRES: mlir-opt
// RUN: split-file %S/forms.mlir %t
// RUN: sutura-opt %t/in.mlir --mlir-print-op-generic > %t/generic.mlir
// RUN: mlir-opt %t/generic.mlir --allow-unregistered-dialect --mlir-print-op-generic > %t/upstream.mlir
// RUN: sutura-opt %t/in.mlir --discard-value-names > %t/before.mlir
// RUN: sutura-opt %t/upstream.mlir --discard-value-names > %t/after.mlir
// RUN: diff %t/before.mlir %t/after.mlir
