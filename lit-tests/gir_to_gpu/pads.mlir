// What lies outside the view: lanes that a load leaves out are zero already, so that only another number is put there.
// RUN: sutura-opt %s --convert-gir-to-gpu="subgroup=32" --split-input-file | FileCheck %s

// A select of zero beside what it feeds is more than needless: ptxas 12.4 to 13.5 takes the condition of a select that feeds an
// `and` in a loop for a mask, and reads it where it is not set.
// CHECK-LABEL: gpu.func @zeros(
// CHECK: scf.if
// CHECK: llvm.load
// CHECK-NOT: arith.select
// CHECK: arith.andi %{{.*}} : vector<1xi32>
gir.kernel @zeros(%x : !gir.view<dram, i32, [M, N]> in, %y : !gir.view<dram, i32, [M, N]> out)
    dims(%M : [0, 1000], %N : [0, 1000]) grid(%i = (N + 127) floordiv 128) units(1) {
  %c0 = arith.constant 0 : index
  %at = gir.index affine_map<(d0) -> (d0 * 128)>(%i)
  %ones = gir.fill -1 : i32 : !gir.tile<vec, i32, [1, 128]>
  %last = gir.for %r = %c0 to %M carry(%before = %ones) : !gir.tile<vec, i32, [1, 128]> {
    %from = gir.slice %x[%r, %at] cols(1) : !gir.view<dram, i32, [M, N]> -> !gir.slice<dram, i32, [1, 128]>
    %t = gir.load %from pad(0 : i32) : !gir.slice<dram, i32, [1, 128]> -> !gir.tile<vec, i32, [1, 128]>
    %both = gir.binary "and" %before, %t : !gir.tile<vec, i32, [1, 128]>
    %to = gir.slice %y[%r, %at] cols(1) : !gir.view<dram, i32, [M, N]> -> !gir.slice<dram, i32, [1, 128]>
    gir.store %both, %to : !gir.tile<vec, i32, [1, 128]>, !gir.slice<dram, i32, [1, 128]>
    gir.yield %both : !gir.tile<vec, i32, [1, 128]>
  }
}

// -----

// The negative zero is another number, and so is one.
// CHECK-LABEL: gpu.func @others(
// CHECK: llvm.load
// CHECK: arith.select {{.*}} : vector<1xi1>, vector<1xf32>
// CHECK: llvm.load
// CHECK: arith.select {{.*}} : vector<1xi1>, vector<1xf32>
gir.kernel @others(%x : !gir.view<dram, f32, [N]> in, %y : !gir.view<dram, f32, [N]> out)
    dims(%N : [0, 1000]) grid(%i = (N + 31) floordiv 32) units(1) {
  %at = gir.index affine_map<(d0) -> (d0 * 32 - 1)>(%i)
  %from = gir.slice %x[%at] cols(0) : !gir.view<dram, f32, [N]> -> !gir.slice<dram, f32, [1, 32]>
  %t = gir.load %from pad(-0.0 : f32) : !gir.slice<dram, f32, [1, 32]> -> !gir.tile<vec, f32, [1, 32]>
  %u = gir.load %from pad(1.0 : f32) : !gir.slice<dram, f32, [1, 32]> -> !gir.tile<vec, f32, [1, 32]>
  %s = gir.binary "add" %t, %u : !gir.tile<vec, f32, [1, 32]>
  %own = gir.index affine_map<(d0) -> (d0 * 32)>(%i)
  %to = gir.slice %y[%own] cols(0) : !gir.view<dram, f32, [N]> -> !gir.slice<dram, f32, [1, 32]>
  gir.store %s, %to : !gir.tile<vec, f32, [1, 32]>, !gir.slice<dram, f32, [1, 32]>
}
