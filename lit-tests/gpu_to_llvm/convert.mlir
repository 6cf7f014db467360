// Device code as functions of LLVM's dialect with what the vendors add.
// RUN: sutura-opt %s --convert-gpu-to-nvvm | FileCheck %s --check-prefixes=CHECK,NVVM
// RUN: sutura-opt %s --convert-gpu-to-rocdl | FileCheck %s --check-prefixes=CHECK,ROCDL,WAVE64
// RUN: sutura-opt %s --convert-gpu-to-rocdl="subgroup=32" | FileCheck %s --check-prefixes=CHECK,ROCDL,WAVE32
// RUN: sutura-opt %s --convert-gpu-to-nvvm --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: sutura-opt %s --convert-gpu-to-nvvm | sutura-opt --convert-gpu-to-nvvm -o %t.twice
// RUN: sutura-opt %s --convert-gpu-to-nvvm -o %t.once
// RUN: diff %t.once %t.twice

// REMARK: the device code is functions now, with 1 kernels

// CHECK: gpu.module @kernels
// CHECK: llvm.mlir.global internal @slots()
// CHECK: llvm.func @k(%{{.*}}: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %{{.*}}: i32
// NVVM-SAME: gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 64, 2, 1>, rt.groups_of_block = 4 : i64}
// ROCDL-SAME: gpu.kernel, rocdl.flat_work_group_size = "128,128", rocdl.kernel, rocdl.reqd_work_group_size = array<i32: 64, 2, 1>, rt.groups_of_block = 4 : i64}
gpu.module @kernels {
  llvm.mlir.global internal @slots() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<32 x f32>
  gpu.func @k(%in: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %offset: i32) kernel
      attributes {known_block_size = array<i32: 64, 2, 1>, rt.groups_of_block = 4 : i64} {
    // NVVM: nvvm.read.ptx.sreg.tid.x : i32
    // ROCDL: rocdl.workitem.id.x : i32
    // CHECK-NEXT: arith.index_castui %{{.*}} : i32 to index
    %x = gpu.thread_id x
    // An axis with one thread.
    // CHECK-NEXT: arith.constant 0 : i32
    %z = gpu.thread_id z
    // NVVM: nvvm.read.ptx.sreg.ctaid.y : i32
    // ROCDL: rocdl.workgroup.id.y : i32
    %b = gpu.block_id y
    // CHECK: arith.constant 2 : i32
    %d = gpu.block_dim y
    // NVVM: nvvm.read.ptx.sreg.nctaid.x : i32
    // ROCDL: %[[ARGS:.+]] = llvm.call_intrinsic "llvm.amdgcn.implicitarg.ptr"() : () -> !llvm.ptr<4>
    // ROCDL-NEXT: %[[AT:.+]] = llvm.getelementptr %[[ARGS]][0]
    // ROCDL-NEXT: llvm.load %[[AT]] invariant {alignment = 4 : i64} : !llvm.ptr<4> -> i32
    %g = gpu.grid_dim x
    // NVVM: nvvm.read.ptx.sreg.laneid : i32
    // ROCDL: rocdl.mbcnt.lo
    // WAVE64-NEXT: rocdl.mbcnt.hi
    // WAVE32-NOT: rocdl.mbcnt.hi
    %l = gpu.lane_id
    // Threads are numbered along x first.
    // NVVM: %[[Y:.+]] = nvvm.read.ptx.sreg.tid.y : i32
    // NVVM: arith.muli
    // NVVM: %[[ROW:.+]] = arith.addi %{{.*}}, %[[Y]] : i32
    // NVVM: %[[X:.+]] = nvvm.read.ptx.sreg.tid.x : i32
    // NVVM: %[[BEFORE:.+]] = arith.muli %[[ROW]], %{{.*}} : i32
    // NVVM: %[[NUMBER:.+]] = arith.addi %[[BEFORE]], %[[X]] : i32
    // NVVM: %[[WARP:.+]] = arith.constant 32 : i32
    // NVVM: arith.divui %[[NUMBER]], %[[WARP]] : i32
    // WAVE64: arith.constant 64 : i32
    // WAVE64: arith.divui
    // WAVE32: arith.constant 32 : i32
    // WAVE32: arith.divui
    %s = gpu.subgroup_id : index
    // NVVM: nvvm.barrier0
    // ROCDL: llvm.fence syncscope("workgroup") release
    // ROCDL-NEXT: rocdl.s.barrier
    // ROCDL-NEXT: llvm.fence syncscope("workgroup") acquire
    gpu.barrier
    %f = llvm.load %in : !llvm.ptr<1> -> f32
    %width = arith.constant 16 : i32
    %four = arith.constant 4 : i32
    // Segments of 16 lanes: 16 in the bits from 8 on, and the last lane.
    // NVVM: %[[FBITS:.+]] = arith.bitcast %{{.*}} : f32 to i32
    // NVVM: %[[CLAMP:.+]] = arith.constant 4127 : i32
    // NVVM: %[[ALL:.+]] = arith.constant -1 : i32
    // NVVM: nvvm.shfl.sync bfly %[[ALL]], %[[FBITS]], %{{.*}}, %[[CLAMP]] : i32 -> i32
    // 4 in the bits from 10 on, and all bits kept.
    // ROCDL: %[[PATTERN:.+]] = arith.constant 4127 : i32
    // ROCDL: rocdl.ds_swizzle %{{.*}}, %[[PATTERN]] : (i32, i32) -> i32
    // CHECK: arith.bitcast %{{.*}} : i32 to f32
    %r, %none = gpu.shuffle xor %f, %four, %width : f32
    // Two words, and one question whether there is such a lane.
    %wide = llvm.load %in : !llvm.ptr<1> -> f64
    // CHECK: arith.bitcast %{{.*}} : f64 to i64
    // NVVM: nvvm.shfl.sync down {{.*}} {return_value_and_is_valid} : i32 -> !llvm.struct<(i32, i1)>
    // NVVM: llvm.extractvalue %{{.*}}[1]
    // NVVM: nvvm.shfl.sync down {{.*}} : i32 -> i32
    // ROCDL: rocdl.ds_bpermute
    // ROCDL: arith.cmpi ult
    // ROCDL: rocdl.ds_bpermute
    // CHECK: arith.ori
    %w, %valid = gpu.shuffle down %wide, %offset, %width : f64
    // The first lane that `up` takes from is 0.
    %byte = llvm.load %in : !llvm.ptr<1> -> i8
    // CHECK: arith.extui %{{.*}} : i8 to i32
    // NVVM: arith.constant 4096 : i32
    // NVVM: nvvm.shfl.sync up
    // ROCDL: rocdl.ds_bpermute
    // CHECK: arith.trunci %{{.*}} : i32 to i8
    %u, %unused = gpu.shuffle up %byte, %four, %width : i8
    // An unknown width.
    // NVVM: arith.subi
    // NVVM: arith.shli
    // NVVM: nvvm.shfl.sync idx
    // ROCDL: arith.andi
    // ROCDL: rocdl.ds_bpermute
    %i, %unused2 = gpu.shuffle idx %r, %four, %offset : f32
    %sum = arith.addf %i, %r : f32
    llvm.store %sum, %in : f32, !llvm.ptr<1>
    llvm.store %w, %in : f64, !llvm.ptr<1>
    llvm.store %u, %in : i8, !llvm.ptr<1>
    llvm.store %valid, %in : i1, !llvm.ptr<1>
    // CHECK: llvm.return
    gpu.return
  }
  // A function that threads call.
  // CHECK: llvm.func @twice(%{{.*}}: f32) -> f32 {
  gpu.func @twice(%x: f32) -> f32 {
    %y = arith.addf %x, %x : f32
    // CHECK: llvm.return %{{.*}} : f32
    gpu.return %y : f32
  }
}
