// A CPU copies where an asynchronous copy begins, and waits for nothing.
// RUN: sutura-opt %s --convert-gir-to-cpu=vector-bytes=32 | FileCheck %s

// A row of any length goes through a loop over vectors, and what is left of it through a masked one.
// CHECK-LABEL: func.func @rows(
// CHECK-NOT: nvvm
// CHECK: scf.for
// CHECK: llvm.store
// CHECK-NOT: nvvm
gir.kernel @rows(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 100000], %N : [0, 1000]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %near = gir.alloc owner("unit") : !gir.view<l1, f32, [N]>
  %mine = gir.slice %near[%zero] cols(0) : !gir.view<l1, f32, [N]> -> !gir.slice<l1, f32, [1, N]>
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.async_copy %from, %mine : !gir.slice<dram, f32, [1, N]>, !gir.slice<l1, f32, [1, N]>
  gir.async_commit
  gir.async_wait 0
  %t = gir.load %mine : !gir.slice<l1, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %s = gir.reduce "add" "cols" %t : !gir.tile<l1, f32, [1, N]>
  %b = gir.broadcast %s like %t : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %r = gir.binary "sub" %t, %b : !gir.tile<l1, f32, [1, N]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %r, %to : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

// What lies beyond the end of the view is zero, and without zeros what was there before.
// CHECK-LABEL: func.func @tiles(
// CHECK: llvm.intr.masked.load
// CHECK-NOT: nvvm
gir.kernel @tiles(%x : !gir.view<dram, f32, [N]> in, %y : !gir.view<dram, f32, [N]> out)
    dims(%N : [0, 100000]) grid(%i = (N + 15) floordiv 16) units(1) {
  %zero = arith.constant 0 : index
  %near = gir.alloc owner("unit") : !gir.view<l1, f32, [16]>
  %far = gir.alloc owner("unit") : !gir.view<l1, f32, [16]>
  %at = gir.index affine_map<(d0) -> (d0 * 16)>(%i)
  %ahead = gir.index affine_map<(d0) -> (d0 * 16 + 5)>(%i)
  %ones = gir.fill 1.0 : f32 : !gir.tile<vec, f32, [1, 16]>
  %one = gir.slice %near[%zero] cols(0) : !gir.view<l1, f32, [16]> -> !gir.slice<l1, f32, [1, 16]>
  %other = gir.slice %far[%zero] cols(0) : !gir.view<l1, f32, [16]> -> !gir.slice<l1, f32, [1, 16]>
  %from = gir.slice %x[%ahead] cols(0) : !gir.view<dram, f32, [N]> -> !gir.slice<dram, f32, [1, 16]>
  gir.store %ones, %other : !gir.tile<vec, f32, [1, 16]>, !gir.slice<l1, f32, [1, 16]>
  gir.async_copy %from, %one zeros : !gir.slice<dram, f32, [1, 16]>, !gir.slice<l1, f32, [1, 16]>
  gir.async_copy %from, %other : !gir.slice<dram, f32, [1, 16]>, !gir.slice<l1, f32, [1, 16]>
  gir.async_commit
  gir.async_wait 0
  %t = gir.load %one : !gir.slice<l1, f32, [1, 16]> -> !gir.tile<vec, f32, [1, 16]>
  %u = gir.load %other : !gir.slice<l1, f32, [1, 16]> -> !gir.tile<vec, f32, [1, 16]>
  %r = gir.binary "sub" %t, %u : !gir.tile<vec, f32, [1, 16]>
  %to = gir.slice %y[%at] cols(0) : !gir.view<dram, f32, [N]> -> !gir.slice<dram, f32, [1, 16]>
  gir.store %r, %to : !gir.tile<vec, f32, [1, 16]>, !gir.slice<dram, f32, [1, 16]>
}
