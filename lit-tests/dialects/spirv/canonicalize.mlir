// The blocks of a loop and of a conditional have roles: none is merged or taken away, though the control flow would stay.
// RUN: sutura-opt %s --canonicalize | FileCheck %s
// RUN: sutura-opt %s --pass-pipeline="builtin.module(spirv.module(spirv.func(canonicalize{region-simplify=aggressive})))" | FileCheck %s
spirv.module PhysicalStorageBuffer64 GLSL450 requires #spirv.vce<v1.5, [Shader], []> {
  // CHECK-LABEL: spirv.func @k
  spirv.func @k(%c: i1) "None" {
    // CHECK: spirv.mlir.selection {
    // CHECK: spirv.BranchConditional
    // CHECK: ^bb1:
    // CHECK: spirv.Branch ^bb2
    // CHECK: ^bb2:
    // CHECK: spirv.mlir.merge
    spirv.mlir.selection {
      spirv.BranchConditional %c, ^bb1, ^bb2
    ^bb1:
      spirv.Branch ^bb2
    ^bb2:
      spirv.mlir.merge
    }
    // CHECK: spirv.mlir.loop {
    // CHECK: spirv.Branch ^bb1
    // CHECK: ^bb1:
    // CHECK: ^bb4:
    // CHECK: spirv.mlir.merge
    spirv.mlir.loop {
      spirv.Branch ^bb1
    ^bb1:
      spirv.BranchConditional %c, ^bb2, ^bb4
    ^bb2:
      spirv.Branch ^bb3
    ^bb3:
      spirv.Branch ^bb1
    ^bb4:
      spirv.mlir.merge
    }
    spirv.Return
  }
}
