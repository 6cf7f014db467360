// Loops that run never or once.
// RUN: sutura-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @loops(%x: f32, %n: index) -> (f32, f32) {
// CHECK-NEXT: %s = arith.addf %x, %x : f32
// CHECK-NEXT: return %s, %x : f32, f32
// CHECK-NEXT: }
func.func @loops(%x: f32, %n: index) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %c1 step %c1 iter_args(%a = %x) -> (f32) {
    %s = arith.addf %a, %x : f32
    scf.yield %s : f32
  }
  %1 = scf.for %i = %n to %n step %c1 iter_args(%a = %x) -> (f32) {
    %s = arith.addf %a, %x : f32
    scf.yield %s : f32
  }
  return %0, %1 : f32, f32
}
