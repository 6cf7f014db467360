// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=generic},expand-fma)' | FileCheck %s
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx2},expand-fma)' | FileCheck %s --check-prefix=KEPT
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=aarch64},expand-fma)' | FileCheck %s --check-prefix=KEPT
// RUN: sutura-opt %s --expand-fma | FileCheck %s --check-prefix=KEPT

// The sum is rounded to odd in doubles, then to nearest.
// CHECK-LABEL: func.func @exact(
// CHECK: arith.extf
// CHECK: %[[P:.*]] = arith.mulf %{{.*}} : vector<4xf64>
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[P]], %{{.*}} : vector<4xf64>
// CHECK: arith.shrsi
// CHECK: arith.ori
// CHECK: arith.cmpf one
// CHECK: arith.truncf %{{.*}} : vector<4xf64> to vector<4xf32>
// CHECK-NOT: math.fma
// CHECK: return
// KEPT-LABEL: func.func @exact(
// KEPT-NEXT: math.fma
func.func @exact(%a: vector<4xf32>, %b: vector<4xf32>, %c: vector<4xf32>) -> vector<4xf32> {
  %d = math.fma %a, %b, %c : vector<4xf32>
  return %d : vector<4xf32>
}

// Products may be rounded twice.
// CHECK-LABEL: func.func @split(
// CHECK-NEXT: %[[P:.*]] = arith.mulf %arg0, %arg1 : vector<4xf32>
// CHECK-NEXT: arith.addf %[[P]], %arg2 : vector<4xf32>
// KEPT-LABEL: func.func @split(
// KEPT-NEXT: vector.fma
func.func @split(%arg0: vector<4xf32>, %arg1: vector<4xf32>, %arg2: vector<4xf32>) -> vector<4xf32> {
  %d = vector.fma %arg0, %arg1, %arg2 : vector<4xf32>
  return %d : vector<4xf32>
}

// CHECK-LABEL: func.func @half(
// CHECK: arith.truncf %{{.*}} : f64 to f32
// CHECK-NEXT: arith.truncf %{{.*}} : f32 to bf16
func.func @half(%a: bf16, %b: bf16, %c: bf16) -> bf16 {
  %d = math.fma %a, %b, %c : bf16
  return %d : bf16
}
