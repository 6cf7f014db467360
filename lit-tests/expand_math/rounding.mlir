// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=generic},expand-math)' | FileCheck %s
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=generic},expand-math)' --check-passes | FileCheck %s
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx2},expand-math)' | FileCheck %s --check-prefix=KEPT
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=aarch64},expand-math)' | FileCheck %s --check-prefix=KEPT
// RUN: sutura-opt %s --expand-math | FileCheck %s --check-prefix=KEPT

// An x86-64 without SSE4.1 has no instruction that rounds, and calls of a library would be undefined symbols.
// CHECK-LABEL: func.func @vectors(
// CHECK-NOT: math.{{floor|ceil|trunc|roundeven}}
// CHECK: math.copysign
// CHECK: return
// KEPT-LABEL: func.func @vectors(
// KEPT-NEXT: math.floor
// KEPT-NEXT: math.ceil
// KEPT-NEXT: math.trunc
// KEPT-NEXT: math.roundeven
func.func @vectors(%x: vector<4xf32>) -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>) {
  %a = math.floor %x : vector<4xf32>
  %b = math.ceil %x : vector<4xf32>
  %c = math.trunc %x : vector<4xf32>
  %d = math.roundeven %x : vector<4xf32>
  return %a, %b, %c, %d : vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>
}

// CHECK-LABEL: func.func @half(
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @half(%x: f16) -> f16 {
  %y = math.floor %x : f16
  return %y : f16
}
