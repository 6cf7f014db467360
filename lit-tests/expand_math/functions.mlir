// RUN: sutura-opt %s --expand-math | FileCheck %s
// RUN: sutura-opt %s --expand-math | sutura-opt --verify-roundtrip -o /dev/null
// RUN: sutura-opt %s --expand-math --pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=STATS

// STATS: (S) 2 num-expanded - functions expanded

// CHECK-LABEL: func.func @exp(
// CHECK-NOT: math.exp
// CHECK: math.fma
// CHECK: arith.shli
// CHECK: return
func.func @exp(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.exp %x : vector<16xf32>
  return %y : vector<16xf32>
}

// An argument that is not above zero needs no limit above it, and shorter sums.
// CHECK-LABEL: func.func @exp_nonpositive(
// CHECK-COUNT-1: arith.cmpf
// CHECK-NOT: arith.cmpf
// CHECK-COUNT-7: math.fma
// CHECK-NOT: math.fma
// CHECK: return
func.func @exp_nonpositive(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.exp %x {gir.nonpositive} : vector<16xf32>
  return %y : vector<16xf32>
}

// What machines have stays.
// CHECK-LABEL: func.func @native(
// CHECK-NEXT: math.sqrt
// CHECK-NEXT: math.floor
func.func @native(%x: f32) -> f32 {
  %y = math.sqrt %x : f32
  %z = math.floor %y : f32
  return %z : f32
}

// A function without any.
// CHECK-LABEL: func.func @empty(
// CHECK-NEXT: return
func.func @empty() {
  return
}
