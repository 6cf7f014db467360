// A tile whose columns lie apart in memory, and whose rows side by side: for each of its columns a thread reads as many rows at once
// as are aligned, and takes them apart.
// RUN: sutura-opt %s --convert-gir-to-gpu="subgroup=32" --split-input-file | FileCheck %s
// RUN: sutura-opt %s --convert-gir-to-gpu="threads=16 subgroup=32" --split-input-file | FileCheck %s --check-prefix=SIXTEEN

// Rows of 20: all four rows are one access. Rows of the left operand are as well.
// CHECK-LABEL: gpu.func @by_four(
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CHECK-NOT: llvm.load
// CHECK: scf.yield
// A thread of sixteen has two neighbouring columns, and reads twice.
// SIXTEEN-LABEL: gpu.func @by_four(
// SIXTEEN: gpu.barrier
// SIXTEEN: scf.for
// SIXTEEN-COUNT-4: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// SIXTEEN: %[[FIRST:.+]] = llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// SIXTEEN: vector.extract %[[FIRST]][0]
// SIXTEEN: %[[SECOND:.+]] = llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// SIXTEEN: vector.extract %[[SECOND]][0]
// SIXTEEN-NOT: llvm.load
// SIXTEEN: scf.yield
gir.kernel @by_four(%q : !gir.view<dram, f32, [M, 16]> in, %k : !gir.view<dram, f32, [32, 16]> in, %y : !gir.view<dram, f32, [M, 32]> out)
    dims(%M : [0, 100000]) grid(%i = (M + 7) floordiv 8) units(%u, 2) {
  %zero = arith.constant 0 : index
  %four = arith.constant 4 : index
  %queries = gir.alloc owner("group") : !gir.view<shared, f32, [8, 16]>
  %keys = gir.alloc owner("group") : !gir.view<shared, f32, [32, 20]>
  %row = gir.index affine_map<(d0, d1) -> (d0 * 8 + d1 * 4)>(%i, %u)
  %own = gir.index affine_map<(d0) -> (d0 * 4)>(%u)
  %key = gir.index affine_map<(d0) -> (d0 * 16)>(%u)
  %from_q = gir.slice %q[%row, %zero] rows(0) cols(1) : !gir.view<dram, f32, [M, 16]> -> !gir.slice<dram, f32, [4, 16]>
  %tq = gir.load %from_q pad(0.0 : f32) : !gir.slice<dram, f32, [4, 16]> -> !gir.tile<vec, f32, [4, 16]>
  %to_q = gir.slice %queries[%own, %zero] rows(0) cols(1) : !gir.view<shared, f32, [8, 16]> -> !gir.slice<shared, f32, [4, 16]>
  gir.store %tq, %to_q : !gir.tile<vec, f32, [4, 16]>, !gir.slice<shared, f32, [4, 16]>
  %from_k = gir.slice %k[%key, %zero] rows(0) cols(1) : !gir.view<dram, f32, [32, 16]> -> !gir.slice<dram, f32, [16, 16]>
  %tk = gir.load %from_k : !gir.slice<dram, f32, [16, 16]> -> !gir.tile<vec, f32, [16, 16]>
  %to_k = gir.slice %keys[%key, %zero] rows(0) cols(1) : !gir.view<shared, f32, [32, 20]> -> !gir.slice<shared, f32, [16, 16]>
  gir.store %tk, %to_k : !gir.tile<vec, f32, [16, 16]>, !gir.slice<shared, f32, [16, 16]>
  gir.sync
  %none = gir.fill 0.0 : f32 : !gir.tile<vec, f32, [4, 32]>
  %sum = gir.for %step = %zero to %four carry(%so_far = %none) : !gir.tile<vec, f32, [4, 32]> {
    %at = gir.index affine_map<(d0) -> (d0 * 4)>(%step)
    %sl = gir.slice %queries[%own, %at] rows(0) cols(1) : !gir.view<shared, f32, [8, 16]> -> !gir.slice<shared, f32, [4, 4]>
    %l = gir.load %sl : !gir.slice<shared, f32, [4, 4]> -> !gir.tile<vec, f32, [4, 4]>
    %sr = gir.slice %keys[%zero, %at] rows(1) cols(0) : !gir.view<shared, f32, [32, 20]> -> !gir.slice<shared, f32, [4, 32]>
    %r = gir.load %sr : !gir.slice<shared, f32, [4, 32]> -> !gir.tile<vec, f32, [4, 32]>
    %n = gir.contract %l, %r, %so_far : !gir.tile<vec, f32, [4, 4]>, !gir.tile<vec, f32, [4, 32]>, !gir.tile<vec, f32, [4, 32]>
    gir.yield %n : !gir.tile<vec, f32, [4, 32]>
  }
  %to = gir.slice %y[%row, %zero] rows(0) cols(1) : !gir.view<dram, f32, [M, 32]> -> !gir.slice<dram, f32, [4, 32]>
  gir.store %sum, %to : !gir.tile<vec, f32, [4, 32]>, !gir.slice<dram, f32, [4, 32]>
}

// -----

// Rows of 18: every second one begins where an access of 16 bytes may not.
// CHECK-LABEL: gpu.func @by_two(
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CHECK: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<3> -> vector<2xf32>
// CHECK: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<3> -> vector<2xf32>
// CHECK-NOT: llvm.load
// CHECK: scf.yield
gir.kernel @by_two(%q : !gir.view<dram, f32, [M, 16]> in, %k : !gir.view<dram, f32, [32, 16]> in, %y : !gir.view<dram, f32, [M, 32]> out)
    dims(%M : [0, 100000]) grid(%i = (M + 7) floordiv 8) units(%u, 2) {
  %zero = arith.constant 0 : index
  %four = arith.constant 4 : index
  %queries = gir.alloc owner("group") : !gir.view<shared, f32, [8, 16]>
  %keys = gir.alloc owner("group") : !gir.view<shared, f32, [32, 18]>
  %row = gir.index affine_map<(d0, d1) -> (d0 * 8 + d1 * 4)>(%i, %u)
  %own = gir.index affine_map<(d0) -> (d0 * 4)>(%u)
  %key = gir.index affine_map<(d0) -> (d0 * 16)>(%u)
  %from_q = gir.slice %q[%row, %zero] rows(0) cols(1) : !gir.view<dram, f32, [M, 16]> -> !gir.slice<dram, f32, [4, 16]>
  %tq = gir.load %from_q pad(0.0 : f32) : !gir.slice<dram, f32, [4, 16]> -> !gir.tile<vec, f32, [4, 16]>
  %to_q = gir.slice %queries[%own, %zero] rows(0) cols(1) : !gir.view<shared, f32, [8, 16]> -> !gir.slice<shared, f32, [4, 16]>
  gir.store %tq, %to_q : !gir.tile<vec, f32, [4, 16]>, !gir.slice<shared, f32, [4, 16]>
  %from_k = gir.slice %k[%key, %zero] rows(0) cols(1) : !gir.view<dram, f32, [32, 16]> -> !gir.slice<dram, f32, [16, 16]>
  %tk = gir.load %from_k : !gir.slice<dram, f32, [16, 16]> -> !gir.tile<vec, f32, [16, 16]>
  %to_k = gir.slice %keys[%key, %zero] rows(0) cols(1) : !gir.view<shared, f32, [32, 18]> -> !gir.slice<shared, f32, [16, 16]>
  gir.store %tk, %to_k : !gir.tile<vec, f32, [16, 16]>, !gir.slice<shared, f32, [16, 16]>
  gir.sync
  %none = gir.fill 0.0 : f32 : !gir.tile<vec, f32, [4, 32]>
  %sum = gir.for %step = %zero to %four carry(%so_far = %none) : !gir.tile<vec, f32, [4, 32]> {
    %at = gir.index affine_map<(d0) -> (d0 * 4)>(%step)
    %sl = gir.slice %queries[%own, %at] rows(0) cols(1) : !gir.view<shared, f32, [8, 16]> -> !gir.slice<shared, f32, [4, 4]>
    %l = gir.load %sl : !gir.slice<shared, f32, [4, 4]> -> !gir.tile<vec, f32, [4, 4]>
    %sr = gir.slice %keys[%zero, %at] rows(1) cols(0) : !gir.view<shared, f32, [32, 18]> -> !gir.slice<shared, f32, [4, 32]>
    %r = gir.load %sr : !gir.slice<shared, f32, [4, 32]> -> !gir.tile<vec, f32, [4, 32]>
    %n = gir.contract %l, %r, %so_far : !gir.tile<vec, f32, [4, 4]>, !gir.tile<vec, f32, [4, 32]>, !gir.tile<vec, f32, [4, 32]>
    gir.yield %n : !gir.tile<vec, f32, [4, 32]>
  }
  %to = gir.slice %y[%row, %zero] rows(0) cols(1) : !gir.view<dram, f32, [M, 32]> -> !gir.slice<dram, f32, [4, 32]>
  gir.store %sum, %to : !gir.tile<vec, f32, [4, 32]>, !gir.slice<dram, f32, [4, 32]>
}

// -----

// Rows of 17: nothing is known to be aligned.
// CHECK-LABEL: gpu.func @each(
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> f32
// CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> f32
// CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> f32
// CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> f32
// CHECK-NOT: llvm.load
// CHECK: scf.yield
gir.kernel @each(%q : !gir.view<dram, f32, [M, 16]> in, %k : !gir.view<dram, f32, [32, 16]> in, %y : !gir.view<dram, f32, [M, 32]> out)
    dims(%M : [0, 100000]) grid(%i = (M + 7) floordiv 8) units(%u, 2) {
  %zero = arith.constant 0 : index
  %four = arith.constant 4 : index
  %queries = gir.alloc owner("group") : !gir.view<shared, f32, [8, 16]>
  %keys = gir.alloc owner("group") : !gir.view<shared, f32, [32, 17]>
  %row = gir.index affine_map<(d0, d1) -> (d0 * 8 + d1 * 4)>(%i, %u)
  %own = gir.index affine_map<(d0) -> (d0 * 4)>(%u)
  %key = gir.index affine_map<(d0) -> (d0 * 16)>(%u)
  %from_q = gir.slice %q[%row, %zero] rows(0) cols(1) : !gir.view<dram, f32, [M, 16]> -> !gir.slice<dram, f32, [4, 16]>
  %tq = gir.load %from_q pad(0.0 : f32) : !gir.slice<dram, f32, [4, 16]> -> !gir.tile<vec, f32, [4, 16]>
  %to_q = gir.slice %queries[%own, %zero] rows(0) cols(1) : !gir.view<shared, f32, [8, 16]> -> !gir.slice<shared, f32, [4, 16]>
  gir.store %tq, %to_q : !gir.tile<vec, f32, [4, 16]>, !gir.slice<shared, f32, [4, 16]>
  %from_k = gir.slice %k[%key, %zero] rows(0) cols(1) : !gir.view<dram, f32, [32, 16]> -> !gir.slice<dram, f32, [16, 16]>
  %tk = gir.load %from_k : !gir.slice<dram, f32, [16, 16]> -> !gir.tile<vec, f32, [16, 16]>
  %to_k = gir.slice %keys[%key, %zero] rows(0) cols(1) : !gir.view<shared, f32, [32, 17]> -> !gir.slice<shared, f32, [16, 16]>
  gir.store %tk, %to_k : !gir.tile<vec, f32, [16, 16]>, !gir.slice<shared, f32, [16, 16]>
  gir.sync
  %none = gir.fill 0.0 : f32 : !gir.tile<vec, f32, [4, 32]>
  %sum = gir.for %step = %zero to %four carry(%so_far = %none) : !gir.tile<vec, f32, [4, 32]> {
    %at = gir.index affine_map<(d0) -> (d0 * 4)>(%step)
    %sl = gir.slice %queries[%own, %at] rows(0) cols(1) : !gir.view<shared, f32, [8, 16]> -> !gir.slice<shared, f32, [4, 4]>
    %l = gir.load %sl : !gir.slice<shared, f32, [4, 4]> -> !gir.tile<vec, f32, [4, 4]>
    %sr = gir.slice %keys[%zero, %at] rows(1) cols(0) : !gir.view<shared, f32, [32, 17]> -> !gir.slice<shared, f32, [4, 32]>
    %r = gir.load %sr : !gir.slice<shared, f32, [4, 32]> -> !gir.tile<vec, f32, [4, 32]>
    %n = gir.contract %l, %r, %so_far : !gir.tile<vec, f32, [4, 4]>, !gir.tile<vec, f32, [4, 32]>, !gir.tile<vec, f32, [4, 32]>
    gir.yield %n : !gir.tile<vec, f32, [4, 32]>
  }
  %to = gir.slice %y[%row, %zero] rows(0) cols(1) : !gir.view<dram, f32, [M, 32]> -> !gir.slice<dram, f32, [4, 32]>
  gir.store %sum, %to : !gir.tile<vec, f32, [4, 32]>, !gir.slice<dram, f32, [4, 32]>
}
