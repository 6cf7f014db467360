// Columns of a window that begins before its view are other threads' in each group: before a loop over them threads wait for those
// that still read what was kept of other columns in the block's memory.
// RUN: sutura-opt %s --convert-gir-to-gpu="threads=8 subgroup=32" | FileCheck %s

// CHECK-LABEL: llvm.mlir.global internal @slide_shared0() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<4096 x f32>
// CHECK-LABEL: gpu.func @slide(
// CHECK:       scf.for
// CHECK-NOT:   scf.for
// CHECK:       gpu.barrier
// CHECK:       scf.for {{.*}} -> (vector<1xf32>, vector<1xf32>)
// CHECK:       gpu.barrier
// CHECK:       scf.for {{.*}} -> (vector<1xf32>)
gir.kernel @slide(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, 4]> out)
    dims(%M : [0, 100], %N : [4, 4096]) grid(%i = M, %j = 4) units(1) {
  %at = gir.index affine_map<(d0) -> (d0 - 3)>(%j)
  %in = gir.slice %x[%i, %at] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %in : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %e = gir.unary "exp" %t : !gir.tile<l1, f32, [1, N]>
  %u = gir.scan "add" "cols" %e : !gir.tile<l1, f32, [1, N]>
  %s = gir.reduce "add" "cols" %u : !gir.tile<l1, f32, [1, N]>
  %sb = gir.broadcast %s like %u : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %r = gir.binary "div" %u, %sb : !gir.tile<l1, f32, [1, N]>
  %z = gir.reduce "max" "cols" %r : !gir.tile<l1, f32, [1, N]>
  %out = gir.slice %y[%i, %j] cols(1) : !gir.view<dram, f32, [M, 4]> -> !gir.slice<dram, f32, [1, 1]>
  gir.store %z, %out : !gir.tile<l1, f32, [1, 1]>, !gir.slice<dram, f32, [1, 1]>
}
