// RUN: sutura-opt %s --expand-math | FileCheck %s

// Half precision is computed in 32 bits and rounded once.
// CHECK-LABEL: func.func @half(
// CHECK-NEXT: %[[X:.*]] = arith.extf %{{.*}} : vector<8xf16> to vector<8xf32>
// CHECK-NOT: math.tanh
// CHECK: %[[Y:.*]] = arith.truncf %{{.*}} : vector<8xf32> to vector<8xf16>
// CHECK-NEXT: return %[[Y]]
func.func @half(%x: vector<8xf16>) -> vector<8xf16> {
  %y = math.tanh %x : vector<8xf16>
  return %y : vector<8xf16>
}

// CHECK-LABEL: func.func @power(
// CHECK-NEXT: arith.extf %{{.*}} : bf16 to f32
// CHECK-NEXT: arith.extf %{{.*}} : bf16 to f32
// CHECK: arith.extf %{{.*}} : f32 to f64
// CHECK: arith.truncf %{{.*}} : f64 to f32
// CHECK: arith.truncf %{{.*}} : f32 to bf16
func.func @power(%x: bf16, %p: bf16) -> bf16 {
  %y = math.powf %x, %p : bf16
  return %y : bf16
}
