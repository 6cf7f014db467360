// The remainder of floats is exact, and no library has it: it becomes divisions that leave a remainder of their own.
// RUN: sutura-opt %s --expand-math | FileCheck %s
// RUN: sutura-opt %s --expand-math --check-passes -o /dev/null
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=generic},expand-math)' | FileCheck %s

// What a float may be many times larger than is rare.
// CHECK-LABEL: func.func @single(
// CHECK-NOT: arith.remf
// CHECK: arith.extf %{{.*}} : vector<4xf32> to vector<4xf64>
// CHECK: arith.divf %{{.*}} : vector<4xf64>
// CHECK: scf.if
// CHECK-COUNT-10: arith.divf
// CHECK-NOT: arith.divf
// CHECK: arith.truncf %{{.*}} : vector<4xf64> to vector<4xf32>
// CHECK: math.copysign
// CHECK: return
func.func @single(%x: vector<4xf32>, %y: vector<4xf32>) -> vector<4xf32> {
  %z = arith.remf %x, %y : vector<4xf32>
  return %z : vector<4xf32>
}

// CHECK-LABEL: func.func @double(
// CHECK-NOT: arith.remf
// CHECK: math.fma
// CHECK: scf.if
// CHECK-COUNT-42: math.fma
// CHECK-NOT: math.fma
// CHECK: return
func.func @double(%x: f64, %y: f64) -> f64 {
  %z = arith.remf %x, %y : f64
  return %z : f64
}

// CHECK-LABEL: func.func @half(
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK-NOT: arith.remf
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @half(%x: f16, %y: f16) -> f16 {
  %z = arith.remf %x, %y : f16
  return %z : f16
}

// Of integers it is an instruction.
// CHECK-LABEL: func.func @integers(
// CHECK-NEXT: arith.remsi
func.func @integers(%x: i32, %y: i32) -> i32 {
  %z = arith.remsi %x, %y : i32
  return %z : i32
}
