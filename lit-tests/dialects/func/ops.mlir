// Signatures and calls in custom and generic form.
// RUN: sutura-opt %s --split-input-file | sutura-opt --split-input-file | FileCheck %s
// RUN: sutura-opt %s --split-input-file --print-op-generic | sutura-opt --split-input-file | FileCheck %s

// CHECK: func.func private @plain(i32, f32)
func.func private @plain(i32, f32)
// CHECK: func.func private @one(i32, f32) -> f32
func.func private @one(i32, f32) -> f32
// CHECK: func.func private @"two words"(i32, f32) -> (f32, index)
func.func private @"two words"(i32, f32) -> (f32, index)
// CHECK: func.func private @closure(i32, f32) -> ((i32) -> f32)
func.func private @closure(i32, f32) -> ((i32) -> f32)
// CHECK: func.func private @attrs(i32 {test.a = 1 : i64}, f32) -> (f32 {test.b = 1 : i64})
func.func private @attrs(i32 {test.a = 1 : i64}, f32) -> (f32 {test.b = 1 : i64})
// CHECK: func.func @caller(%arg0: i32, %arg1: f32) -> f32 {
func.func @caller(%arg0: i32, %arg1: f32) -> f32 {
  // CHECK: call @plain(%arg0, %arg1) : (i32, f32) -> ()
  call @plain(%arg0, %arg1) : (i32, f32) -> ()
  // CHECK: %0 = call @one(%arg0, %arg1) : (i32, f32) -> f32
  %0 = call @one(%arg0, %arg1) : (i32, f32) -> f32
  // CHECK: return %0 : f32
  return %0 : f32
}
