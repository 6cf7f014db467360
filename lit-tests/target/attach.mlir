// RUN: sutura-opt %s --attach-target=name=x86_avx2 | FileCheck %s
// RUN: sutura-opt %s --attach-target=name=x86_avx2 --attach-target=name=x86_avx2 | FileCheck %s
// RUN: sutura-opt %s --attach-target=name=x86_avx2 | sutura-opt --attach-target=name=x86_avx2 | FileCheck %s

// CHECK: target.machine @x86_avx2 {features = "+avx,+avx2
// CHECK: target.space @vec {align = 32 : i64, bytes = 512 : i64, class = "reg", owner = "unit", vector = 32 : i64}
// CHECK: target.intrinsic @fma_f32_6x16(
// CHECK: target.intrinsic @fma_f32_6x8(
// CHECK-NOT: target.machine
// CHECK: func.func @main()
func.func @main() {
  return
}
