// The LLVM dialect that MLIR makes of what lowering makes: read, verified, and printed to the letter.
// REQUIRES: mlir-opt
// A custom form cannot leave out `unnamed_addr`, so what is compared went through one.
// DEFINE: %{generic} = --allow-unregistered-dialect --mlir-print-op-generic
// DEFINE: %{to-llvm} = --allow-unregistered-dialect --pass-pipeline='builtin.module(convert-vector-to-scf,convert-scf-to-cf,expand-strided-metadata,lower-affine,convert-vector-to-llvm{enable-x86vector},convert-to-llvm,canonicalize,cse,reconcile-unrealized-casts)'
// RUN: sutura-opt %S/softmax.mlir --pass-pipeline='builtin.module(convert-gir-to-cpu,func.func(expand-math),canonicalize,cse)' --print-op-generic | mlir-opt %{to-llvm} | mlir-opt %{generic} -o %t.softmax
// RUN: sutura-opt %t.softmax --verify-roundtrip | mlir-opt %{generic} | diff %t.softmax -
// RUN: sutura-opt %S/matmul.mlir --pass-pipeline='builtin.module(convert-gir-to-cpu,canonicalize,cse)' --print-op-generic | mlir-opt %{to-llvm} | mlir-opt %{generic} -o %t.matmul
// RUN: sutura-opt %t.matmul --verify-roundtrip | mlir-opt %{generic} | diff %t.matmul -
// RUN: sutura-opt %S/../expand_math/functions.mlir --pass-pipeline='builtin.module(func.func(expand-math))' --print-op-generic | mlir-opt %{to-llvm} | mlir-opt %{generic} -o %t.functions
// RUN: sutura-opt %t.functions --verify-roundtrip | mlir-opt %{generic} | diff %t.functions -
// RUN: sutura-opt %S/../rt/convert.mlir --pass-pipeline='builtin.module(plan-buffers,convert-rt-to-llvm)' --print-op-generic | mlir-opt %{to-llvm} | mlir-opt %{generic} -o %t.program
// RUN: sutura-opt %t.program --verify-roundtrip | mlir-opt %{generic} | diff %t.program -
