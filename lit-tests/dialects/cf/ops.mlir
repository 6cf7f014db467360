// Branches in custom and generic form.
// RUN: sutura-opt %s --split-input-file | sutura-opt --split-input-file | FileCheck %s
// RUN: sutura-opt %s --split-input-file --print-op-generic | sutura-opt --split-input-file | FileCheck %s

// CHECK: func.func @f(%arg0: i1, %arg1: f32) {
func.func @f(%arg0: i1, %arg1: f32) {
  // CHECK: cf.assert %arg0, "must hold"
  cf.assert %arg0, "must hold"
  // CHECK: cf.cond_br %arg0, ^bb1(%arg1 : f32), ^bb2
  cf.cond_br %arg0, ^bb1(%arg1 : f32), ^bb2
// CHECK: ^bb1(%0: f32):
^bb1(%0: f32):  // pred: ^bb0
  // CHECK: cf.cond_br %arg0 weights([3, 1]), ^bb2, ^bb2
  cf.cond_br %arg0 weights([3, 1]), ^bb2, ^bb2
// CHECK: ^bb2:
^bb2:  // 3 preds: ^bb0, ^bb1, ^bb1
  // CHECK: cf.br ^bb3(%arg0 : i1)
  cf.br ^bb3(%arg0 : i1)
// CHECK: ^bb3(%1: i1):
^bb3(%1: i1):  // pred: ^bb2
  // CHECK: return
  return
}
