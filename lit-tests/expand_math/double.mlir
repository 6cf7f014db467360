// RUN: sutura-opt %s --expand-math | FileCheck %s
// RUN: sutura-opt %s --expand-math | sutura-opt --verify-roundtrip -o /dev/null
// RUN: sutura-opt %s --expand-math --pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=STATS

// STATS: (S) 4 num-expanded - functions expanded

// Doubles are computed as doubles, with integers of 64 bits.
// CHECK-LABEL: func.func @vector(
// CHECK-NOT: f32
// CHECK-COUNT-10: math.fma %{{.*}} : vector<4xf64>
// CHECK: arith.bitcast %{{.*}} : vector<4xf64> to vector<4xi64>
// CHECK-NOT: math.exp
// CHECK: return
func.func @vector(%x: vector<4xf64>) -> vector<4xf64> {
  %y = math.exp %x : vector<4xf64>
  return %y : vector<4xf64>
}

// One that is not above zero has no shorter sum.
// CHECK-LABEL: func.func @nonpositive(
// CHECK-NOT: math.exp
// CHECK: return
func.func @nonpositive(%x: f64) -> f64 {
  %y = math.exp %x {gir.nonpositive} : f64
  return %y : f64
}

// CHECK-LABEL: func.func @turn(
// CHECK: scf.if %{{.*}} -> (vector<2xf64>, vector<2xf64>, vector<2xi64>) {
// CHECK: arith.mului_extended %{{.*}} : vector<2xi64>
// CHECK-NOT: math.sin
// CHECK: return
func.func @turn(%x: vector<2xf64>) -> vector<2xf64> {
  %y = math.sin %x : vector<2xf64>
  return %y : vector<2xf64>
}

// CHECK-LABEL: func.func @power(
// CHECK-NOT: math.powf
// CHECK: arith.divf %{{.*}} : f64
// CHECK: return
func.func @power(%x: f64, %p: f64) -> f64 {
  %y = math.powf %x, %p : f64
  return %y : f64
}
