// Tiles in a cache are read where they are needed, which may be behind a wait of the group, and what is kept of them is read by the
// thread that has put it there.

// RUN: sutura-opt %s --convert-gir-to-gpu="subgroup=32" --split-input-file | FileCheck %s

// What others have put there is read behind the second wait: the next trip waits before it writes.
// CHECK-LABEL: gpu.func @late(
// CHECK: scf.for {{.*}} : i64 {
// CHECK:   scf.for
// CHECK:     gpu.barrier
// CHECK:     llvm.store
// CHECK:     gpu.barrier
// CHECK:     gpu.barrier
// CHECK:     llvm.load
gir.kernel @late(%x : !gir.view<dram, f32, [T, 256]> in, %y : !gir.view<dram, f32, [T, 256]> out)
    dims(%T : [0, 1000]) grid() units(%u, 4) {
  %zero = arith.constant 0 : index
  %near = gir.alloc owner("group") : !gir.view<shared, f32, [256]>
  %own = gir.index affine_map<(d0) -> (d0 * 64)>(%u)
  %across = gir.index affine_map<(d0) -> (192 - d0 * 64)>(%u)
  gir.for %k = %zero to %T {
    %from = gir.slice %x[%k, %own] cols(1) : !gir.view<dram, f32, [T, 256]> -> !gir.slice<dram, f32, [1, 64]>
    %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<vec, f32, [1, 64]>
    %mine = gir.slice %near[%own] cols(0) : !gir.view<shared, f32, [256]> -> !gir.slice<shared, f32, [1, 64]>
    gir.store %t, %mine : !gir.tile<vec, f32, [1, 64]>, !gir.slice<shared, f32, [1, 64]>
    gir.sync
    %theirs = gir.slice %near[%across] cols(0) : !gir.view<shared, f32, [256]> -> !gir.slice<shared, f32, [1, 64]>
    %r = gir.load %theirs : !gir.slice<shared, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
    gir.sync
    %to = gir.slice %y[%k, %own] cols(1) : !gir.view<dram, f32, [T, 256]> -> !gir.slice<dram, f32, [1, 64]>
    gir.store %r, %to : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
  }
}

// -----

// In registers a thread has two columns of 64, in loops four: it would find another thread's, so that nothing is kept.
// CHECK-NOT: llvm.mlir.global
// CHECK-LABEL: gpu.func @keeps(
// CHECK-NOT: gpu.barrier
gir.kernel @keeps(%x : !gir.view<dram, f32, [64, 64]> in, %y : !gir.view<dram, f32, [64, 64]> out, %z : !gir.view<dram, f32, [64, 1]> out)
    dims() grid() units(%u, 4) {
  %zero = arith.constant 0 : index
  %row = gir.index affine_map<(d0) -> (d0 * 16)>(%u)
  %from = gir.slice %x[%row, %zero] rows(0) cols(1) : !gir.view<dram, f32, [64, 64]> -> !gir.slice<dram, f32, [16, 64]>
  %t = gir.load %from : !gir.slice<dram, f32, [16, 64]> -> !gir.tile<l1, f32, [16, 64]>
  %e = gir.unary "exp" %t : !gir.tile<l1, f32, [16, 64]>
  %s = gir.reduce "add" "cols" %e : !gir.tile<l1, f32, [16, 64]>
  %zs = gir.slice %z[%row, %zero] rows(0) cols(1) : !gir.view<dram, f32, [64, 1]> -> !gir.slice<dram, f32, [16, 1]>
  gir.store %s, %zs : !gir.tile<l1, f32, [16, 1]>, !gir.slice<dram, f32, [16, 1]>
  %r = gir.move %e : !gir.tile<l1, f32, [16, 64]> -> !gir.tile<vec, f32, [16, 64]>
  %to = gir.slice %y[%row, %zero] rows(0) cols(1) : !gir.view<dram, f32, [64, 64]> -> !gir.slice<dram, f32, [16, 64]>
  gir.store %r, %to : !gir.tile<vec, f32, [16, 64]>, !gir.slice<dram, f32, [16, 64]>
}
