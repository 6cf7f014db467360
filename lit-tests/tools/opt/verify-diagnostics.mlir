// RUN: not sutura-opt %s --split-input-file --verify-diagnostics 2>&1 | FileCheck %s
// RUN: not sutura-opt %s --split-input-file --verify-diagnostics=only-expected 2>&1 | FileCheck %s --check-prefix=ONLY --implicit-check-not=unexpected

// CHECK: verify-diagnostics.mlir:[[#@LINE+3]]:1: error: expected error "never" was not produced
// ONLY:  verify-diagnostics.mlir:[[#@LINE+2]]:1: error: expected error "never" was not produced
// expected-error@below {{never}}
module {}

// -----

func.func @f(%x: f32) {
  // CHECK: verify-diagnostics.mlir:[[#@LINE+1]]:1: error: unexpected error: 'arith.addi' op operand #0 must be signless-integer-like
  %0 = "arith.addi"(%x, %x) : (f32, f32) -> f32
  return
}

// -----

func.func @f(%x: f32) {
  // expected-error-re@+1 {{operand #{{[0-9]+}} must be {{.*}}, but got 'f32'}}
  %0 = "arith.addi"(%x, %x) : (f32, f32) -> f32
  return
}

// -----

// CHECK: verify-diagnostics.mlir:[[#@LINE+2]]:1: error: `expected-error` needs a text in `{{.*}}` after it
// ONLY:  verify-diagnostics.mlir:[[#@LINE+1]]:1: error: `expected-error` needs a text
// expected-error never
module {}
