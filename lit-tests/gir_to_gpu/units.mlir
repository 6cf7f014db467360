// Groups of several units: each is a subgroup of one block. Memory of the group is one array, that of a unit a part of one; units
// wait for each other where the text says so.
// RUN: sutura-opt %s --convert-gir-to-gpu="subgroup=32" --split-input-file | FileCheck %s

// Four units of 32 threads. A unit's number is the thread's by 32.
// CHECK-LABEL: llvm.mlir.global internal @mirrored_shared0() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<256 x f32>
// CHECK-LABEL: gpu.func @mirrored(
// CHECK-SAME:    known_block_size = array<i32: 128, 1, 1>
// CHECK-SAME:    rt.groups_of_block = 1 : i64
// CHECK: %[[NUMBER:.+]] = gpu.thread_id x
// CHECK: %[[TID:.+]] = arith.index_cast %[[NUMBER]]
// CHECK: %[[THREAD:.+]] = arith.remui %[[TID]], %c32_i64
// CHECK: %[[UNIT:[0-9]+]] = arith.divui %[[TID]], %c32_i64
// Whether windows are full is one answer for the units of a group, that of the last one: no unit's number takes part.
// CHECK: scf.for
// CHECK-NOT: %[[UNIT]]{{[^0-9]}}
// CHECK: %[[LAST:[0-9]+]] = arith.addi %c192_i64
// CHECK: %[[END:[0-9]+]] = arith.addi %[[LAST]], %c63_i64
// CHECK: arith.cmpi slt, %[[END]], %arg2
// CHECK-NOT: %[[UNIT]]{{[^0-9]}}
// CHECK: scf.if
// The group before has been read.
// CHECK: gpu.barrier
// CHECK: llvm.store
// CHECK: gpu.barrier
// CHECK: llvm.load {{.*}} !llvm.ptr<3>
// CHECK-NOT: gpu.barrier
// CHECK: } else {
gir.kernel @mirrored(%x : !gir.view<dram, f32, [N]> in, %y : !gir.view<dram, f32, [N]> out)
    dims(%N : [0, 100000]) grid(%i = (N + 255) floordiv 256) units(%u, 4) {
  %zero = arith.constant 0 : index
  %near = gir.alloc owner("group") : !gir.view<shared, f32, [256]>
  %at = gir.index affine_map<(d0, d1) -> (d0 * 256 + d1 * 64)>(%i, %u)
  %from = gir.slice %x[%at] cols(0) : !gir.view<dram, f32, [N]> -> !gir.slice<dram, f32, [1, 64]>
  %t = gir.load %from pad(0.0 : f32) : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<vec, f32, [1, 64]>
  %own = gir.index affine_map<(d0) -> (d0 * 64)>(%u)
  %mine = gir.slice %near[%own] cols(0) : !gir.view<shared, f32, [256]> -> !gir.slice<shared, f32, [1, 64]>
  gir.store %t, %mine : !gir.tile<vec, f32, [1, 64]>, !gir.slice<shared, f32, [1, 64]>
  gir.sync
  %across = gir.index affine_map<(d0) -> (192 - d0 * 64)>(%u)
  %theirs = gir.slice %near[%across] cols(0) : !gir.view<shared, f32, [256]> -> !gir.slice<shared, f32, [1, 64]>
  %r = gir.load %theirs : !gir.slice<shared, f32, [1, 64]> -> !gir.tile<vec, f32, [1, 64]>
  %to = gir.slice %y[%at] cols(0) : !gir.view<dram, f32, [N]> -> !gir.slice<dram, f32, [1, 64]>
  gir.store %r, %to : !gir.tile<vec, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}

// -----

// A product whose factors lie in the group's memory: two barriers a trip, and none in the loop that only reads. Every thread
// reads four elements of the left factor at once; of a row of the right one it has as many as leave all threads some.
// CHECK-LABEL: gpu.func @staged(
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK-NOT: gpu.barrier
// CHECK: llvm.store {{.*}}!llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK-NOT: gpu.barrier
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CHECK-NOT: gpu.barrier
// CHECK: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<3> -> vector<2xf32>
// CHECK-NOT: gpu.barrier
// CHECK: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: scf.yield
gir.kernel @staged(%a : !gir.view<dram, f32, [M, K]> in, %b : !gir.view<dram, f32, [K, 64]> in, %c : !gir.view<dram, f32, [M, 64]> out)
    dims(%M : [0, 100000], %K : [0, 100000]) grid(%i = (M + 7) floordiv 8) units(%u, 2) {
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  %left = gir.alloc owner("group") : !gir.view<shared, f32, [8, 8]>
  %right = gir.alloc owner("group") : !gir.view<shared, f32, [8, 64]>
  %row = gir.index affine_map<(d0, d1) -> (d0 * 8 + d1 * 4)>(%i, %u)
  %own = gir.index affine_map<(d0) -> (d0 * 4)>(%u)
  %none = gir.fill 0.0 : f32 : !gir.tile<vec, f32, [4, 64]>
  %blocks = gir.index affine_map<()[s0] -> ((s0 + 7) floordiv 8)>(%K)
  %sum = gir.for %block = %zero to %blocks carry(%so_far = %none) : !gir.tile<vec, f32, [4, 64]> {
    %k = gir.index affine_map<(d0) -> (d0 * 8)>(%block)
    %from_a = gir.slice %a[%row, %k] rows(0) cols(1) : !gir.view<dram, f32, [M, K]> -> !gir.slice<dram, f32, [4, 8]>
    %ta = gir.load %from_a pad(0.0 : f32) : !gir.slice<dram, f32, [4, 8]> -> !gir.tile<vec, f32, [4, 8]>
    %to_a = gir.slice %left[%own, %zero] rows(0) cols(1) : !gir.view<shared, f32, [8, 8]> -> !gir.slice<shared, f32, [4, 8]>
    gir.store %ta, %to_a : !gir.tile<vec, f32, [4, 8]>, !gir.slice<shared, f32, [4, 8]>
    %k_own = gir.index affine_map<(d0, d1) -> (d0 + d1)>(%k, %own)
    %from_b = gir.slice %b[%k_own, %zero] rows(0) cols(1) : !gir.view<dram, f32, [K, 64]> -> !gir.slice<dram, f32, [4, 64]>
    %tb = gir.load %from_b pad(0.0 : f32) : !gir.slice<dram, f32, [4, 64]> -> !gir.tile<vec, f32, [4, 64]>
    %to_b = gir.slice %right[%own, %zero] rows(0) cols(1) : !gir.view<shared, f32, [8, 64]> -> !gir.slice<shared, f32, [4, 64]>
    gir.store %tb, %to_b : !gir.tile<vec, f32, [4, 64]>, !gir.slice<shared, f32, [4, 64]>
    gir.sync
    %next = gir.for %step = %zero to %two carry(%carried = %so_far) : !gir.tile<vec, f32, [4, 64]> {
      %at = gir.index affine_map<(d0) -> (d0 * 4)>(%step)
      %sl = gir.slice %left[%own, %at] rows(0) cols(1) : !gir.view<shared, f32, [8, 8]> -> !gir.slice<shared, f32, [4, 4]>
      %l = gir.load %sl : !gir.slice<shared, f32, [4, 4]> -> !gir.tile<vec, f32, [4, 4]>
      %sr = gir.slice %right[%at, %zero] rows(0) cols(1) : !gir.view<shared, f32, [8, 64]> -> !gir.slice<shared, f32, [4, 64]>
      %r = gir.load %sr : !gir.slice<shared, f32, [4, 64]> -> !gir.tile<vec, f32, [4, 64]>
      %n = gir.contract %l, %r, %carried : !gir.tile<vec, f32, [4, 4]>, !gir.tile<vec, f32, [4, 64]>, !gir.tile<vec, f32, [4, 64]>
      gir.yield %n : !gir.tile<vec, f32, [4, 64]>
    }
    gir.sync
    gir.yield %next : !gir.tile<vec, f32, [4, 64]>
  }
  %to = gir.slice %c[%row, %zero] rows(0) cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [4, 64]>
  gir.store %sum, %to : !gir.tile<vec, f32, [4, 64]>, !gir.slice<dram, f32, [4, 64]>
}

// -----

// What a unit keeps for itself is a part of an array: here rows of 42, behind each other where an access of 16 bytes may begin. Sums of rows stay in a subgroup.
// CHECK-LABEL: llvm.mlir.global internal @own_shared0() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<132 x f32>
// CHECK-LABEL: gpu.func @own(
// CHECK-SAME:    known_block_size = array<i32: 96, 1, 1>
// CHECK: %[[UNIT:.+]] = arith.divui %{{.*}}, %c32_i64
// CHECK: %[[ALL:.+]] = llvm.mlir.addressof @own_shared0
// CHECK: %[[BEFORE:.+]] = arith.muli %[[UNIT]], %c44_i64
// CHECK: llvm.getelementptr %[[ALL]][%[[BEFORE]]]
// CHECK: gpu.shuffle xor
gir.kernel @own(%x : !gir.view<dram, f32, [M, 42]> in, %y : !gir.view<dram, f32, [M, 42]> out)
    dims(%M : [0, 100000]) grid(%i = (M + 2) floordiv 3) units(%u, 3) {
  %zero = arith.constant 0 : index
  %near = gir.alloc owner("unit") : !gir.view<l1, f32, [42]>
  %row = gir.index affine_map<(d0, d1) -> (d0 * 3 + d1)>(%i, %u)
  %from = gir.slice %x[%row, %zero] rows(0) cols(1) : !gir.view<dram, f32, [M, 42]> -> !gir.slice<dram, f32, [1, 42]>
  %t = gir.load %from pad(0.0 : f32) : !gir.slice<dram, f32, [1, 42]> -> !gir.tile<vec, f32, [1, 42]>
  %s = gir.reduce "add" "cols" %t : !gir.tile<vec, f32, [1, 42]>
  %sb = gir.broadcast %s like %t : !gir.tile<vec, f32, [1, 1]>, !gir.tile<vec, f32, [1, 42]>
  %d = gir.binary "sub" %t, %sb : !gir.tile<vec, f32, [1, 42]>
  %mine = gir.slice %near[%zero] cols(0) : !gir.view<l1, f32, [42]> -> !gir.slice<l1, f32, [1, 42]>
  gir.store %d, %mine : !gir.tile<vec, f32, [1, 42]>, !gir.slice<l1, f32, [1, 42]>
  %kept = gir.load %mine : !gir.slice<l1, f32, [1, 42]> -> !gir.tile<l1, f32, [1, 42]>
  %largest = gir.reduce "max" "cols" %kept : !gir.tile<l1, f32, [1, 42]>
  %lb = gir.broadcast %largest like %kept : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, 42]>
  %r = gir.binary "sub" %kept, %lb : !gir.tile<l1, f32, [1, 42]>
  %to = gir.slice %y[%row, %zero] rows(0) cols(1) : !gir.view<dram, f32, [M, 42]> -> !gir.slice<dram, f32, [1, 42]>
  gir.store %r, %to : !gir.tile<l1, f32, [1, 42]>, !gir.slice<dram, f32, [1, 42]>
}
