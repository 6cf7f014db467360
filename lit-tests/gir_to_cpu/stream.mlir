// RUN: sutura-opt %s --convert-gir-to-cpu | FileCheck %s
// RUN: sutura-opt %s --convert-gir-to-cpu | sutura-opt --verify-roundtrip -o /dev/null

target.machine @m {triple = "x86_64-unknown-linux-gnu", features = "+avx512f"} {
  target.space @vec {class = "reg", owner = "unit", bytes = 2048, vector = 64}
  target.space @l1 {class = "sram", owner = "unit", bytes = 32768, align = 64, cached}
  target.space @l2 {class = "sram", owner = "unit", bytes = 1048576, align = 64, cached}
  target.space @dram {class = "dram", owner = "all", stream = 65536}
}

// A launch that touches enough memory stores past the caches. What a row has before the first aligned column, and after the
// last whole vector, is stored as always. In the end the stores are made visible.
// CHECK-LABEL: func.func @elementwise(
// CHECK: %[[ENOUGH:.*]] = arith.constant 65536 : i64
// CHECK: %[[LARGE:.*]] = arith.cmpi sge, %{{.*}}, %[[ENOUGH]] : i64
// CHECK: scf.for
// CHECK: llvm.ptrtoint
// CHECK: %[[STREAMS:.*]] = arith.andi %[[LARGE]],
// CHECK: scf.if
// CHECK: llvm.intr.masked.store
// CHECK: scf.if %[[STREAMS]]
// CHECK: llvm.store {{.*}} {alignment = 64 : i64, nontemporal} : vector<16xf32>
// CHECK: } else {
// CHECK: llvm.store {{.*}} {alignment = 4 : i64} : vector<16xf32>
// CHECK: llvm.intr.masked.store
// CHECK: scf.if %[[LARGE]] {
// CHECK-NEXT: llvm.fence seq_cst
gir.kernel @elementwise(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 4096], %N : [0, 4096]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %r = gir.unary "neg" %t : !gir.tile<l1, f32, [1, N]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %r, %to : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

// No launch of this kernel touches as much.
// CHECK-LABEL: func.func @small(
// CHECK-NOT: nontemporal
// CHECK-NOT: llvm.fence
gir.kernel @small(%x : !gir.view<dram, f32, [M, 64]> in, %y : !gir.view<dram, f32, [M, 64]> out)
    dims(%M : [0, 64]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  gir.store %t, %to : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}

// What a kernel reads as well stays in the caches.
// CHECK-LABEL: func.func @in_place(
// CHECK-NOT: nontemporal
// CHECK-NOT: llvm.fence
gir.kernel @in_place(%y : !gir.view<dram, f32, [M, 64]> inout) dims(%M : [0, 4096]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %at = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  %t = gir.load %at : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  %r = gir.unary "neg" %t : !gir.tile<l1, f32, [1, 64]>
  gir.store %r, %at : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}

// The loop that reads the row again asks for that of the next group, or for its own again where there is none. Rows that are
// whole vectors have no columns before the first aligned one.
// CHECK-LABEL: func.func @ahead(
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[END:.*]] step
// CHECK: %[[NEXT:.*]] = arith.cmpi slt, %{{.*}}, %[[END]] : i64
// CHECK: scf.for
// CHECK-NOT: llvm.intr.prefetch
// CHECK: arith.select %[[NEXT]]
// CHECK: scf.for
// CHECK: arith.addf
// CHECK-COUNT-5: llvm.intr.prefetch{{.*}}cache = 1 : i32, hint = 3 : i32, rw = 0 : i32
// CHECK-NOT: llvm.intr.prefetch
// CHECK-NOT: llvm.intr.masked.store
// CHECK: nontemporal
// CHECK: llvm.fence
gir.kernel @ahead(%x : !gir.view<dram, f32, [M, 64]> in, %y : !gir.view<dram, f32, [M, 64]> out)
    dims(%M : [0, 4096]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  %m = gir.reduce "max" "cols" %t : !gir.tile<l1, f32, [1, 64]>
  %mb = gir.broadcast %m like %t : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, 64]>
  %d = gir.binary "sub" %t, %mb : !gir.tile<l1, f32, [1, 64]>
  %s = gir.reduce "add" "cols" %d : !gir.tile<l1, f32, [1, 64]>
  %sb = gir.broadcast %s like %d : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, 64]>
  %r = gir.binary "sub" %d, %sb : !gir.tile<l1, f32, [1, 64]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  gir.store %r, %to : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}

// A row that is too long to be near together with the next one is not asked for.
// CHECK-LABEL: func.func @long_rows(
// CHECK-NOT: llvm.intr.prefetch
gir.kernel @long_rows(%x : !gir.view<dram, f32, [M, 131072]> in, %y : !gir.view<dram, f32, [M, 131072]> out)
    dims(%M : [0, 4096]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 131072]> -> !gir.slice<dram, f32, [1, 131072]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 131072]> -> !gir.tile<l1, f32, [1, 131072]>
  %m = gir.reduce "max" "cols" %t : !gir.tile<l1, f32, [1, 131072]>
  %mb = gir.broadcast %m like %t : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, 131072]>
  %d = gir.binary "sub" %t, %mb : !gir.tile<l1, f32, [1, 131072]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 131072]> -> !gir.slice<dram, f32, [1, 131072]>
  gir.store %d, %to : !gir.tile<l1, f32, [1, 131072]>, !gir.slice<dram, f32, [1, 131072]>
}
