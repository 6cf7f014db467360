// Every operation that lowering makes is declared, so that its text is read again, here and by MLIR.
// RUN: sutura-opt %S/matmul.mlir --convert-gir-to-cpu=vector-bytes=32 --print-op-generic | sutura-opt --verify-roundtrip -o /dev/null
// RUN: sutura-opt %S/softmax.mlir --convert-gir-to-cpu=vector-bytes=64 | sutura-opt --verify-roundtrip -o /dev/null
// RUN: sutura-opt %S/matmul.mlir --discard-value-names | FileCheck %s
// RUN: sutura-opt %S/matmul.mlir --discard-value-names | sutura-opt --convert-gir-to-cpu --verify-roundtrip -o /dev/null

// A size keeps its name where the value that holds it loses its own.
// CHECK: gir.kernel @matmul({{.*}}) dims(%arg3 = M : [0, 2147483647]) grid(%arg4 = 8,
// RUN: sutura-opt %S/softmax.mlir --pass-pipeline='builtin.module(convert-gir-to-cpu,func.func(expand-math),canonicalize,cse)' --print-op-generic | sutura-opt --verify-roundtrip -o /dev/null
