// RUN: sutura-opt %s --gir-unit-threads=subgroup=32 --convert-gir-to-gpu | FileCheck %s
// RUN: sutura-opt %s --convert-gir-to-gpu="threads=8 subgroup=8" | FileCheck %s --check-prefix=WARP
// RUN: sutura-opt %s --convert-gir-to-gpu="threads=1" | FileCheck %s --check-prefix=THREAD
// RUN: sutura-opt %s --pass-pipeline='builtin.module(gir-unit-threads{subgroup=8},convert-gir-to-gpu{subgroup=8},gpu.module(gpu.func(expand-math,canonicalize,cse)),convert-gpu-to-spirv)' | FileCheck %s --check-prefix=SPIRV

// A row of 8192 columns is worth 512 threads: slots for 16 warps, vectors of four where the columns are a multiple of four.
// CHECK: llvm.mlir.global internal @softmax_shared0() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<16 x f32>
// CHECK-LABEL: gpu.func @softmax(
// CHECK-SAME: !llvm.ptr<1>{{.*}}!llvm.ptr<1>{{.*}}i64{{.*}}i64) kernel attributes {known_block_size = array<i32: 512, 1, 1>
// CHECK: arith.remui
// CHECK: scf.if
// CHECK: scf.for
// The row is read once: what the largest is taken of stays in registers.
// CHECK: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK: arith.maximumf
// CHECK: gpu.shuffle xor
// CHECK: gpu.barrier
// CHECK: llvm.store {{.*}} : f32, !llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK: llvm.load {{.*}} : !llvm.ptr<3> -> f32
// CHECK-NOT: !llvm.ptr<1> -> vector<4xf32>
// CHECK: math.exp {{.*}} {gir.nonpositive} : vector<4xf32>
// CHECK: gpu.shuffle xor
// The second reduction has slots of its own, so that one barrier is enough.
// CHECK: llvm.store {{.*}} : f32, !llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK-NOT: gpu.barrier
// CHECK: llvm.store {{.*}} : vector<4xf32>, !llvm.ptr<1>
// CHECK: vector<1xf32>
// CHECK: gpu.return

// A warp a row: shuffles alone, several rows a block, and what is longer than the registers is computed anew.
// WARP-NOT: llvm.mlir.global
// WARP-LABEL: gpu.func @softmax(
// WARP-SAME: known_block_size = array<i32: 128, 1, 1>, rt.groups_of_block = 16 : i64
// WARP-NOT: gpu.barrier
// WARP: gpu.shuffle xor
// WARP: math.exp
// WARP: gpu.shuffle xor
// WARP: math.exp
// WARP: gpu.return

// A thread a row: nothing to hand over.
// THREAD-LABEL: gpu.func @softmax(
// THREAD-NOT: gpu.shuffle
// THREAD-NOT: gpu.barrier
// THREAD: gpu.return

// SPIRV-LABEL: spirv.module @kernels PhysicalStorageBuffer64 GLSL450
// SPIRV: spirv.GroupNonUniformShuffleXor
// SPIRV: spirv.ControlBarrier
// SPIRV: spirv.EntryPoint "GLCompute" @softmax
gir.kernel @softmax(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 2147483647], %N : [1, 8192]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %in = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %in : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %m = gir.reduce "max" "cols" %t : !gir.tile<l1, f32, [1, N]>
  %mb = gir.broadcast %m like %t : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %d = gir.binary "sub" %t, %mb : !gir.tile<l1, f32, [1, N]>
  %e = gir.unary "exp" %d : !gir.tile<l1, f32, [1, N]>
  %s = gir.reduce "add" "cols" %e : !gir.tile<l1, f32, [1, N]>
  %sb = gir.broadcast %s like %e : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %r = gir.binary "div" %e, %sb : !gir.tile<l1, f32, [1, N]>
  %out = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %r, %out : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}
