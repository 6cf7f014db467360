// What is printed here is what MLIR reads, and what MLIR prints is read here, to the letter.
// REQUIRES: mlir-opt
// RUN: sutura-opt %S/ops.mlir -o %t.custom
// RUN: sutura-opt %S/ops.mlir --print-op-generic -o %t.generic
// RUN: mlir-opt %t.custom --mlir-print-op-generic -o %t.one
// RUN: mlir-opt %t.generic --mlir-print-op-generic -o %t.two
// RUN: diff %t.one %t.two
// RUN: sutura-opt %t.one -o %t.back
// RUN: mlir-opt %t.back --mlir-print-op-generic | diff %t.one -
// RUN: mlir-opt %S/ops.mlir | sutura-opt | mlir-opt --mlir-print-op-generic | diff %t.one -
// RUN: sutura-opt %S/types.mlir -o %t.types
// RUN: mlir-opt %t.types -o %t.theirs
// RUN: mlir-opt %S/types.mlir | diff %t.theirs -
// RUN: sutura-opt %t.theirs | diff %t.types -
