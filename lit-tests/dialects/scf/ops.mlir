// Loops and conditionals in custom and generic form.
// RUN: sutura-opt %s --split-input-file | sutura-opt --split-input-file | FileCheck %s
// RUN: sutura-opt %s --split-input-file --print-op-generic | sutura-opt --split-input-file | FileCheck %s

// CHECK: func.func @f(%arg0: index, %arg1: index, %arg2: f32, %arg3: i1, %arg4: i32) {
func.func @f(%arg0: index, %arg1: index, %arg2: f32, %arg3: i1, %arg4: i32) {
  // CHECK: scf.for %arg5 = %arg0 to %arg1 step %arg0 {
  scf.for %arg5 = %arg0 to %arg1 step %arg0 {
  }
  // CHECK: %0:2 = scf.for %arg5 = %arg0 to %arg1 step %arg0 iter_args(%arg6 = %arg2, %arg7 = %arg2) -> (f32, f32) {
  %0:2 = scf.for %arg5 = %arg0 to %arg1 step %arg0 iter_args(%arg6 = %arg2, %arg7 = %arg2) -> (f32, f32) {
    // CHECK: %3 = arith.addf %arg6, %arg7 : f32
    %3 = arith.addf %arg6, %arg7 : f32
    // CHECK: scf.yield %3, %arg6 : f32, f32
    scf.yield %3, %arg6 : f32, f32
  }
  // CHECK: scf.for %arg5 = %arg4 to %arg4 step %arg4  : i32 {
  scf.for %arg5 = %arg4 to %arg4 step %arg4  : i32 {
  }
  // CHECK: %1 = scf.if %arg3 -> (f32) {
  %1 = scf.if %arg3 -> (f32) {
    // CHECK: scf.yield %arg2 : f32
    scf.yield %arg2 : f32
  // CHECK: } else {
  } else {
    // CHECK: scf.yield %arg2 : f32
    scf.yield %arg2 : f32
  }
  // CHECK: scf.if %arg3 {
  scf.if %arg3 {
  // CHECK: } else {
  } else {
  }
  // CHECK: scf.if %arg3 {
  scf.if %arg3 {
  }
  // CHECK: %2 = scf.while (%arg5 = %arg2) : (f32) -> f32 {
  %2 = scf.while (%arg5 = %arg2) : (f32) -> f32 {
    // CHECK: scf.condition(%arg3) %arg5 : f32
    scf.condition(%arg3) %arg5 : f32
  // CHECK: } do {
  } do {
  // CHECK: ^bb0(%arg5: f32):
  ^bb0(%arg5: f32):
    // CHECK: scf.yield %arg5 : f32
    scf.yield %arg5 : f32
  }
  // CHECK: scf.while : () -> () {
  scf.while : () -> () {
    // CHECK: scf.condition(%arg3)
    scf.condition(%arg3)
  // CHECK: } do {
  } do {
    // CHECK: scf.yield
    scf.yield
  }
  // CHECK: return
  return
}

// A single result may be written without parentheses.
// CHECK-LABEL: func.func @bare_result
func.func @bare_result(%c: i1, %a: f32, %n: index) -> f32 {
  // CHECK: scf.if %c -> (f32) {
  %0 = scf.if %c -> f32 {
    scf.yield %a : f32
  } else {
    scf.yield %a : f32
  }
  // CHECK: iter_args(%x = %{{.*}}) -> (f32) {
  %1 = scf.for %i = %n to %n step %n iter_args(%x = %0) -> f32 {
    scf.yield %x : f32
  }
  return %1 : f32
}
