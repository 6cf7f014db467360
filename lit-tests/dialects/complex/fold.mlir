// RUN: sutura-opt %s --canonicalize --check-passes --strict | FileCheck %s

// CHECK-LABEL: func.func @constants
// CHECK-DAG: complex.constant [-1.100000e+01 : f32, 2.000000e+00 : f32] : complex<f32>
// CHECK-DAG: arith.constant 4.000000e+00 : f64
// CHECK-NOT: complex.mul
func.func @constants() -> (complex<f32>, f64) {
  %a = complex.constant [1.0 : f32, 4.0 : f32] : complex<f32>
  %b = complex.constant [-2.0 : f32, 3.0 : f32] : complex<f32>
  %0 = complex.mul %a, %b : complex<f32>
  %n = complex.neg %0 : complex<f32>
  %1 = complex.conj %n : complex<f32>
  %one = complex.constant [1.0 : f32, -7.0 : f32] : complex<f32>
  %s = complex.sub %one, %one : complex<f32>
  %2 = complex.neg %1 : complex<f32>
  %3 = complex.conj %2 : complex<f32>
  %c = complex.constant [3.0 : f32, 7.0 : f32] : complex<f32>
  %4 = complex.add %3, %c : complex<f32>
  %5 = complex.add %4, %s : complex<f32>
  %d = complex.constant [4.0, 5.0] : complex<f64>
  %6 = complex.re %d : complex<f64>
  return %5, %6 : complex<f32>, f64
}

// A product that is NaN in a part is left to the machine.
// CHECK-LABEL: func.func @nan
// CHECK: complex.mul
func.func @nan() -> complex<f64> {
  %a = complex.constant [0x7FF0000000000000 : f64, 0.0] : complex<f64>
  %0 = complex.mul %a, %a : complex<f64>
  return %0 : complex<f64>
}

// CHECK-LABEL: func.func @parts
// CHECK-NEXT: return %a, %x, %y, %a
func.func @parts(%a: complex<f32>, %x: f32, %y: f32) -> (complex<f32>, f32, f32, complex<f32>) {
  %re = complex.re %a : complex<f32>
  %im = complex.im %a : complex<f32>
  %0 = complex.create %re, %im : complex<f32>
  %1 = complex.create %x, %y : complex<f32>
  %2 = complex.re %1 : complex<f32>
  %3 = complex.im %1 : complex<f32>
  %4 = complex.neg %a : complex<f32>
  %5 = complex.neg %4 : complex<f32>
  return %0, %2, %3, %5 : complex<f32>, f32, f32, complex<f32>
}
