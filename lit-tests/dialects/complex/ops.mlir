// Every op in custom and generic form, to the letter as MLIR has it.
// RUN: sutura-opt %s | sutura-opt | FileCheck %s
// RUN: sutura-opt %s --print-op-generic | sutura-opt | FileCheck %s

// CHECK-LABEL: func.func @f32(
// CHECK-SAME: %a: complex<f32>, %b: complex<f32>)
func.func @f32(%a: complex<f32>, %b: complex<f32>) -> complex<f32> {
  // CHECK: complex.constant [1.000000e+00 : f32, -2.000000e+00 : f32] : complex<f32>
  %c = complex.constant [1.0 : f32, -2.0 : f32] : complex<f32>
  // CHECK: complex.add %a, %b : complex<f32>
  %0 = complex.add %a, %b : complex<f32>
  // CHECK: complex.sub %{{.*}}, %b fastmath<nnan> : complex<f32>
  %1 = complex.sub %0, %b fastmath<nnan> : complex<f32>
  // CHECK: complex.mul %{{.*}}, %b : complex<f32>
  %2 = complex.mul %1, %b : complex<f32>
  // CHECK: complex.div %{{.*}}, %{{.*}} : complex<f32>
  %3 = complex.div %2, %c : complex<f32>
  // CHECK: complex.neg %{{.*}} : complex<f32>
  %4 = complex.neg %3 : complex<f32>
  // CHECK: complex.conj %{{.*}} : complex<f32>
  %5 = complex.conj %4 : complex<f32>
  // CHECK: complex.abs %{{.*}} : complex<f32>
  %6 = complex.abs %5 : complex<f32>
  // CHECK: complex.angle %{{.*}} : complex<f32>
  %7 = complex.angle %5 : complex<f32>
  // CHECK: complex.create %{{.*}}, %{{.*}} : complex<f32>
  %8 = complex.create %6, %7 : complex<f32>
  // CHECK: complex.eq %{{.*}}, %{{.*}} : complex<f32>
  %9 = complex.eq %8, %5 : complex<f32>
  // CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : complex<f32>
  %10 = arith.select %9, %8, %5 : complex<f32>
  return %10 : complex<f32>
}

// CHECK-LABEL: func.func @f64(
func.func @f64(%a: complex<f64>, %b: complex<f64>) -> (f64, f64, i1) {
  // CHECK: complex.constant [1.000000e-01, -1.000000e+00] : complex<f64>
  %c = complex.constant [0.1, -1.0] : complex<f64>
  // CHECK: complex.exp %a : complex<f64>
  %0 = complex.exp %a : complex<f64>
  // CHECK: complex.log %{{.*}} : complex<f64>
  %1 = complex.log %0 : complex<f64>
  // CHECK: complex.sqrt %{{.*}} : complex<f64>
  %2 = complex.sqrt %1 : complex<f64>
  // CHECK: complex.sin %{{.*}} : complex<f64>
  %3 = complex.sin %2 : complex<f64>
  // CHECK: complex.cos %{{.*}} : complex<f64>
  %4 = complex.cos %3 : complex<f64>
  // CHECK: complex.re %{{.*}} : complex<f64>
  %5 = complex.re %4 : complex<f64>
  // CHECK: complex.im %{{.*}} : complex<f64>
  %6 = complex.im %4 : complex<f64>
  // CHECK: complex.neq %{{.*}}, %b : complex<f64>
  %7 = complex.neq %c, %b : complex<f64>
  return %5, %6, %7 : f64, f64, i1
}
