// RUN: sutura-opt %s --gir-unit-threads=subgroup=32 --convert-gir-to-gpu | FileCheck %s

// Rows of any length: loops of four vectors, and of one for the rest; the exponentials are computed twice.
// CHECK-LABEL: gpu.func @unbounded(
// CHECK: %[[WIDE:.*]] = arith.constant 8192 : i64
// CHECK: scf.for {{.*}} step %[[WIDE]]
// CHECK-COUNT-4: math.exp {{.*}} : vector<4xf32>
// CHECK: scf.for
// CHECK: math.exp {{.*}} : vector<4xf32>
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK: math.exp
// CHECK: arith.divf
// CHECK: llvm.store {{.*}} {alignment = 8 : i64} : vector<4xf16>, !llvm.ptr<1>
gir.kernel @unbounded(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f16, [M, N]> out)
    dims(%M : [0, 2147483647], %N : [1, 2147483647]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %in = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %in : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %e = gir.unary "exp" %t : !gir.tile<l1, f32, [1, N]>
  %s = gir.reduce "add" "cols" %e : !gir.tile<l1, f32, [1, N]>
  %sb = gir.broadcast %s like %e : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %r = gir.binary "div" %e, %sb : !gir.tile<l1, f32, [1, N]>
  %h = gir.cast "truncf" %r : !gir.tile<l1, f32, [1, N]> -> !gir.tile<l1, f16, [1, N]>
  %out = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f16, [M, N]> -> !gir.slice<dram, f16, [1, N]>
  gir.store %h, %out : !gir.tile<l1, f16, [1, N]>, !gir.slice<dram, f16, [1, N]>
}
