// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx2},expand-truncf)' --check-passes | FileCheck %s
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx2},expand-truncf)' --remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=aarch64},expand-truncf)' | FileCheck %s --check-prefix=KEPT
// RUN: sutura-opt %s --expand-truncf | FileCheck %s --check-prefix=KEPT

// REMARK: remark: @x86_avx2 has no instruction that rounds f64 to f16
// REMARK: remark: @x86_avx2 has no instruction that rounds f64 to bf16
// REMARK: remark: @x86_avx2 has no instruction that rounds f32 to bf16

// By way of f32, where it is rounded to odd.
// CHECK-LABEL: func.func @double_to_half(
// CHECK: %[[NEAR:.*]] = arith.truncf %x : vector<4xf64> to vector<4xf32>
// CHECK: arith.extf %[[NEAR]]
// CHECK: %[[ODD:.*]] = arith.bitcast %{{.*}} : vector<4xi32> to vector<4xf32>
// CHECK: %[[Y:.*]] = arith.truncf %[[ODD]] : vector<4xf32> to vector<4xf16>
// CHECK: return %[[Y]]
// KEPT-LABEL: func.func @double_to_half(
// KEPT-NEXT: arith.truncf
func.func @double_to_half(%x: vector<4xf64>) -> vector<4xf16> {
  %y = arith.truncf %x : vector<4xf64> to vector<4xf16>
  return %y : vector<4xf16>
}

// CHECK-LABEL: func.func @double_to_brain(
// CHECK: arith.truncf %x : f64 to f32
// CHECK-NOT: to bf16
// CHECK: %[[Y:.*]] = arith.bitcast %{{.*}} : i16 to bf16
// CHECK: return %[[Y]]
func.func @double_to_brain(%x: f64) -> bf16 {
  %y = arith.truncf %x : f64 to bf16
  return %y : bf16
}

// The upper half of the bits; NaN stays NaN.
// CHECK-LABEL: func.func @single_to_brain(
// CHECK-NOT: arith.truncf
// CHECK: arith.cmpf uno
// CHECK: arith.bitcast %{{.*}} : i16 to bf16
func.func @single_to_brain(%x: f32) -> bf16 {
  %y = arith.truncf %x : f32 to bf16
  return %y : bf16
}

// Others have an instruction.
// CHECK-LABEL: func.func @kept(
// CHECK-NEXT: arith.truncf %x : f64 to f32
// CHECK-NEXT: arith.truncf %{{.*}} : f32 to f16
func.func @kept(%x: f64) -> f16 {
  %y = arith.truncf %x : f64 to f32
  %z = arith.truncf %y : f32 to f16
  return %z : f16
}
