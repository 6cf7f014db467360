// Launches find their kernels in the module of device code; what a launch needs to know stays with them on each level.
// RUN: sutura-opt %s --convert-gir-to-gpu | FileCheck %s
// RUN: sutura-opt %s --pass-pipeline='builtin.module(convert-gir-to-gpu,convert-gpu-to-nvvm)' | FileCheck %s --check-prefix=LLVM
// RUN: sutura-opt %s --pass-pipeline='builtin.module(convert-gir-to-gpu,convert-gpu-to-rocdl)' | FileCheck %s --check-prefix=LLVM
// RUN: sutura-opt %s --pass-pipeline='builtin.module(convert-gir-to-gpu,convert-gpu-to-spirv)' | FileCheck %s --check-prefix=SPIRV

// The name is taken, so the module gets another one.
gpu.module @kernels {
}

// CHECK: gpu.module @kernels_0
// CHECK: gpu.func @negates
// CHECK: rt.program @main
// LLVM: llvm.func @negates({{.*}}rt.groups_of_block = {{.*}}rt.kernel
// SPIRV: spirv.func @negates({{.*}}rt.groups_of_block = {{.*}}rt.kernel
gir.kernel @negates(%x : !gir.view<dram, f32, [M]> in, %y : !gir.view<dram, f32, [M]> out) dims(%M : [0, 100]) grid() units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%zero] cols(0) : !gir.view<dram, f32, [M]> -> !gir.slice<dram, f32, [1, M]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, M]> -> !gir.tile<l1, f32, [1, M]>
  %n = gir.unary "neg" %t : !gir.tile<l1, f32, [1, M]>
  %to = gir.slice %y[%zero] cols(0) : !gir.view<dram, f32, [M]> -> !gir.slice<dram, f32, [1, M]>
  gir.store %n, %to : !gir.tile<l1, f32, [1, M]>, !gir.slice<dram, f32, [1, M]>
}

rt.program @main(%x : !rt.buffer<f32, [M]> in "x", %y : !rt.buffer<f32, [M]> out "y", %z : !rt.buffer<f32, [M]> out "z")
    symbols(M : [0, 100]) {
  // CHECK: launch @kernels_0::@negates(%{{.*}}, %{{.*}}) dims [M]
  // LLVM: launch @kernels_0::@negates(
  // SPIRV: launch @kernels_0::@negates(
  launch @negates(%x, %y) dims [M] : !rt.buffer<f32, [M]>, !rt.buffer<f32, [M]>
  // CHECK: select if [M - 4]
  select if [M - 4] {
    // CHECK-NEXT: launch @kernels_0::@negates
    launch @negates(%y, %z) dims [M] : !rt.buffer<f32, [M]>, !rt.buffer<f32, [M]>
  }, {
    copy %x, %z : !rt.buffer<f32, [M]>, !rt.buffer<f32, [M]>
  }
}
