// Asynchronous copies: `cp.async` where the machine has it, and vectors are what it takes; else loads and stores where copies begin.
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=sm_80},convert-gir-to-gpu)' | FileCheck %s
// RUN: sutura-opt %s --pass-pipeline='builtin.module(convert-gir-to-gpu{subgroup=32})' | FileCheck %s --check-prefix=PLAIN
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=sm_80},convert-gir-to-gpu,convert-gpu-to-nvvm)' --mlir-print-op-generic | FileCheck %s --check-prefix=NVVM
// PLAIN-NOT: nvvm
// NVVM: "nvvm.cp.async.shared.global"({{.*}}) <{modifier = #nvvm<load_cache_modifier cg>, size = 16 : i32}> : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
// NVVM: "nvvm.cp.async.commit.group"() : () -> ()
// NVVM: "nvvm.cp.async.wait.group"() <{n = 1 : i32}> : () -> ()

// A product: blocks of both factors are on their way while units compute with what the trip has. Of the left one eight threads
// have four elements each, of the right one each has four of every row. What lies beyond the end of a factor is zero. All units have read a
// block before the next one begins to land; a wait and a barrier come before it is read.
// CHECK-LABEL: gpu.func @staged(
// CHECK: scf.for
// CHECK: gpu.barrier
// CHECK: scf.if
// CHECK-NEXT: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>{{$}}
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>{{$}}
// CHECK: nvvm.cp.async.commit.group
// CHECK-NOT: gpu.barrier
// CHECK: scf.for
// CHECK-NEXT: nvvm.cp.async.wait.group 1
// CHECK-NEXT: nvvm.cp.async.wait.group 0
// CHECK-NEXT: gpu.barrier
// CHECK: scf.for
// CHECK-NOT: gpu.barrier
// CHECK: llvm.load %{{.*}} : !llvm.ptr<3>
// CHECK-NOT: gpu.barrier
// CHECK: gpu.barrier
// CHECK-NOT: gpu.barrier
// CHECK: %[[BYTES:.+]] = arith.select %{{.*}}, %c16_i32{{.*}}, %c0_i32{{.*}} : i32
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg, %[[BYTES]] : !llvm.ptr<3>, !llvm.ptr<1>, i32
// CHECK-NOT: gpu.barrier
// CHECK: scf.yield %{{.*}}
// CHECK: nvvm.cp.async.wait.group 0
// PLAIN-LABEL: gpu.func @staged(
// PLAIN: llvm.store %{{.*}}!llvm.ptr<3>
// PLAIN: gpu.barrier
gir.kernel @staged(%a : !gir.view<dram, f32, [M, K]> in, %b : !gir.view<dram, f32, [K, 128]> in, %c : !gir.view<dram, f32, [M, 128]> out)
    dims(%M : [0, 100000], %K : [4, 100000] div 4) grid(%i = (M + 7) floordiv 8) units(%u, 2) {
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  %left = gir.alloc owner("group") : !gir.view<shared, f32, [8, 8]>
  %right = gir.alloc owner("group") : !gir.view<shared, f32, [8, 128]>
  %row = gir.index affine_map<(d0, d1) -> (d0 * 8 + d1 * 4)>(%i, %u)
  %own = gir.index affine_map<(d0) -> (d0 * 4)>(%u)
  %none = gir.fill 0.0 : f32 : !gir.tile<vec, f32, [4, 128]>
  %blocks = gir.index affine_map<()[s0] -> ((s0 + 7) floordiv 8)>(%K)
  %to_a = gir.slice %left[%own, %zero] rows(0) cols(1) : !gir.view<shared, f32, [8, 8]> -> !gir.slice<shared, f32, [4, 8]>
  %to_b = gir.slice %right[%own, %zero] rows(0) cols(1) : !gir.view<shared, f32, [8, 128]> -> !gir.slice<shared, f32, [4, 128]>
  %first_a = gir.slice %a[%row, %zero] rows(0) cols(1) : !gir.view<dram, f32, [M, K]> -> !gir.slice<dram, f32, [4, 8]>
  gir.async_copy %first_a, %to_a zeros : !gir.slice<dram, f32, [4, 8]>, !gir.slice<shared, f32, [4, 8]>
  gir.async_commit
  %first_b = gir.slice %b[%own, %zero] rows(0) cols(1) : !gir.view<dram, f32, [K, 128]> -> !gir.slice<dram, f32, [4, 128]>
  gir.async_copy %first_b, %to_b zeros : !gir.slice<dram, f32, [4, 128]>, !gir.slice<shared, f32, [4, 128]>
  gir.async_commit
  %sum = gir.for %block = %zero to %blocks carry(%so_far = %none) : !gir.tile<vec, f32, [4, 128]> {
    gir.async_wait 1
    gir.async_wait 0
    gir.sync
    %next = gir.for %step = %zero to %two carry(%carried = %so_far) : !gir.tile<vec, f32, [4, 128]> {
      %at = gir.index affine_map<(d0) -> (d0 * 4)>(%step)
      %sl = gir.slice %left[%own, %at] rows(0) cols(1) : !gir.view<shared, f32, [8, 8]> -> !gir.slice<shared, f32, [4, 4]>
      %l = gir.load %sl : !gir.slice<shared, f32, [4, 4]> -> !gir.tile<vec, f32, [4, 4]>
      %sr = gir.slice %right[%at, %zero] rows(0) cols(1) : !gir.view<shared, f32, [8, 128]> -> !gir.slice<shared, f32, [4, 128]>
      %r = gir.load %sr : !gir.slice<shared, f32, [4, 128]> -> !gir.tile<vec, f32, [4, 128]>
      %n = gir.contract %l, %r, %carried : !gir.tile<vec, f32, [4, 4]>, !gir.tile<vec, f32, [4, 128]>, !gir.tile<vec, f32, [4, 128]>
      gir.yield %n : !gir.tile<vec, f32, [4, 128]>
    }
    gir.sync
    %k = gir.index affine_map<(d0) -> (d0 * 8 + 8)>(%block)
    %from_a = gir.slice %a[%row, %k] rows(0) cols(1) : !gir.view<dram, f32, [M, K]> -> !gir.slice<dram, f32, [4, 8]>
    gir.async_copy %from_a, %to_a zeros : !gir.slice<dram, f32, [4, 8]>, !gir.slice<shared, f32, [4, 8]>
    gir.async_commit
    %k_own = gir.index affine_map<(d0, d1) -> (d0 + d1)>(%k, %own)
    %from_b = gir.slice %b[%k_own, %zero] rows(0) cols(1) : !gir.view<dram, f32, [K, 128]> -> !gir.slice<dram, f32, [4, 128]>
    gir.async_copy %from_b, %to_b zeros : !gir.slice<dram, f32, [4, 128]>, !gir.slice<shared, f32, [4, 128]>
    gir.async_commit
    gir.yield %next : !gir.tile<vec, f32, [4, 128]>
  }
  gir.async_wait 0
  %to = gir.slice %c[%row, %zero] rows(0) cols(1) : !gir.view<dram, f32, [M, 128]> -> !gir.slice<dram, f32, [4, 128]>
  gir.store %sum, %to : !gir.tile<vec, f32, [4, 128]>, !gir.slice<dram, f32, [4, 128]>
}

// Of what does not exist a copy without zeros leaves memory as it was: it is not begun. Each thread has one element of a row of any
// length.
// CHECK-LABEL: gpu.func @kept(
// CHECK: llvm.store {{.*}}!llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK: nvvm.cp.async.shared.global
// CHECK: } else {
// CHECK: llvm.store {{.*}}!llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK: scf.if
// CHECK-NEXT: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>{{$}}
// CHECK: nvvm.cp.async.commit.group
// CHECK-NEXT: nvvm.cp.async.wait.group 0
// CHECK: gpu.barrier
// CHECK: llvm.load {{.*}}!llvm.ptr<3>
gir.kernel @kept(%x : !gir.view<dram, f32, [N]> in, %y : !gir.view<dram, f32, [N]> out)
    dims(%N : [0, 100000]) grid(%i = (N + 31) floordiv 32) units(1) {
  %zero = arith.constant 0 : index
  %near = gir.alloc owner("unit") : !gir.view<shared, f32, [32]>
  %at = gir.index affine_map<(d0) -> (d0 * 32)>(%i)
  %back = gir.index affine_map<(d0) -> (d0 * 32 - 3)>(%i)
  %ones = gir.fill 1.0 : f32 : !gir.tile<vec, f32, [1, 32]>
  %mine = gir.slice %near[%zero] cols(0) : !gir.view<shared, f32, [32]> -> !gir.slice<shared, f32, [1, 32]>
  gir.store %ones, %mine : !gir.tile<vec, f32, [1, 32]>, !gir.slice<shared, f32, [1, 32]>
  %from = gir.slice %x[%back] cols(0) : !gir.view<dram, f32, [N]> -> !gir.slice<dram, f32, [1, 32]>
  gir.async_copy %from, %mine : !gir.slice<dram, f32, [1, 32]>, !gir.slice<shared, f32, [1, 32]>
  gir.async_commit
  gir.async_wait 0
  %t = gir.load %mine : !gir.slice<shared, f32, [1, 32]> -> !gir.tile<vec, f32, [1, 32]>
  %to = gir.slice %y[%at] cols(0) : !gir.view<dram, f32, [N]> -> !gir.slice<dram, f32, [1, 32]>
  gir.store %t, %to : !gir.tile<vec, f32, [1, 32]>, !gir.slice<dram, f32, [1, 32]>
}

// Four elements of two bytes are what the machine copies, where the launch says that sizes are multiples of four; one is not, and is
// moved at once.
// CHECK-LABEL: gpu.func @narrow(
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 8, cache = ca
// CHECK: nvvm.cp.async.wait.group 0
// CHECK: llvm.store {{.*}} : vector<1xf16>, !llvm.ptr<3>
// CHECK-NOT: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.wait.group 0
// CHECK-NEXT: gpu.barrier
// CHECK: llvm.load {{.*}}!llvm.ptr<3>
gir.kernel @narrow(%x : !gir.view<dram, f16, [N]> in, %y : !gir.view<dram, f16, [N]> out)
    dims(%N : [0, 100000]) grid(%i = (N + 31) floordiv 32) units(1) {
  %zero = arith.constant 0 : index
  %near = gir.alloc owner("unit") : !gir.view<shared, f16, [32]>
  %at = gir.index affine_map<(d0) -> (d0 * 32)>(%i)
  %mine = gir.slice %near[%zero] cols(0) : !gir.view<shared, f16, [32]> -> !gir.slice<shared, f16, [1, 32]>
  %from = gir.slice %x[%at] cols(0) : !gir.view<dram, f16, [N]> -> !gir.slice<dram, f16, [1, 32]>
  gir.async_copy %from, %mine zeros : !gir.slice<dram, f16, [1, 32]>, !gir.slice<shared, f16, [1, 32]>
  gir.async_commit
  gir.async_wait 0
  %t = gir.load %mine : !gir.slice<shared, f16, [1, 32]> -> !gir.tile<vec, f16, [1, 32]>
  %to = gir.slice %y[%at] cols(0) : !gir.view<dram, f16, [N]> -> !gir.slice<dram, f16, [1, 32]>
  gir.store %t, %to : !gir.tile<vec, f16, [1, 32]>, !gir.slice<dram, f16, [1, 32]>
}
