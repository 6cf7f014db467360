// RUN: sutura-opt %s --convert-gir-to-cpu=vector-bytes=64 | FileCheck %s

// The body stands twice: for groups whose rows all exist, and, with clamped reads and guarded stores, for the last one.
// CHECK-LABEL: func.func @matmul(
// CHECK: scf.if
// CHECK: scf.for
// CHECK-COUNT-8: math.fma {{.*}} : vector<16xf32>
// CHECK-NOT: arith.minsi
// CHECK: scf.yield
// CHECK-COUNT-8: llvm.store
// CHECK: } else {
// CHECK: scf.for
// CHECK: arith.minsi
// CHECK: math.fma
// CHECK: scf.if
// CHECK: llvm.store
gir.kernel @matmul(%x : !gir.view<dram, f32, [M, 256]> in, %w : !gir.view<dram, f32, [8, 256, 32]> in,
                   %y : !gir.view<dram, f32, [M, 256]> out)
    dims(%M : [0, 2147483647]) grid(%j = 8, %i = (M + 3) floordiv 4) units(1) {
  %zero = arith.constant 0 : index
  %k = arith.constant 256 : index
  %row = gir.index affine_map<(d0) -> (d0 * 4)>(%i)
  %col = gir.index affine_map<(d0) -> (d0 * 32)>(%j)
  %init = gir.fill 0.0 : f32 : !gir.tile<vec, f32, [4, 32]>
  %sum = gir.for %p = %zero to %k carry(%acc = %init) : !gir.tile<vec, f32, [4, 32]> {
    %as = gir.slice %x[%row, %p] rows(0) : !gir.view<dram, f32, [M, 256]> -> !gir.slice<dram, f32, [4, 1]>
    %a = gir.load %as : !gir.slice<dram, f32, [4, 1]> -> !gir.tile<vec, f32, [4, 1]>
    %bs = gir.slice %w[%j, %p, %zero] cols(2) : !gir.view<dram, f32, [8, 256, 32]> -> !gir.slice<dram, f32, [1, 32]>
    %b = gir.load %bs : !gir.slice<dram, f32, [1, 32]> -> !gir.tile<vec, f32, [1, 32]>
    %next = gir.contract %a, %b, %acc : !gir.tile<vec, f32, [4, 1]>, !gir.tile<vec, f32, [1, 32]>, !gir.tile<vec, f32, [4, 32]>
    gir.yield %next : !gir.tile<vec, f32, [4, 32]>
  }
  %out = gir.slice %y[%row, %col] rows(0) cols(1) : !gir.view<dram, f32, [M, 256]> -> !gir.slice<dram, f32, [4, 32]>
  gir.store %sum, %out : !gir.tile<vec, f32, [4, 32]>, !gir.slice<dram, f32, [4, 32]>
}
