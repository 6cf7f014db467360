// RUN: sutura-opt %s --convert-gir-to-cpu | FileCheck %s
// RUN: sutura-opt %s --convert-gir-to-cpu | sutura-opt --verify-roundtrip -o /dev/null

target.machine @m {triple = "x86_64-unknown-linux-gnu", features = "+avx512f"} {
  target.space @vec {class = "reg", owner = "unit", bytes = 2048, vector = 64}
  target.space @l1 {class = "sram", owner = "unit", bytes = 32768, align = 64, cached}
  target.space @l2 {class = "sram", owner = "unit", bytes = 1048576, align = 64, cached}
  target.space @dram {class = "dram", owner = "all", stream = 65536}
}

// The kernels say what goes past the caches and when, and the lowering obeys: it asks no machine.

// In a launch for whose sizes it says so, a store goes past the caches. What a row has before the first aligned column, and after the
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
  gir.store %r, %to stream when(8*M*N - 65536) : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

// What says nothing stays in the caches.
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

// As what a kernel reads as well does.
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
  %t = gir.load %from prefetch(4096, next) : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  %m = gir.reduce "max" "cols" %t : !gir.tile<l1, f32, [1, 64]>
  %mb = gir.broadcast %m like %t : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, 64]>
  %d = gir.binary "sub" %t, %mb : !gir.tile<l1, f32, [1, 64]>
  %s = gir.reduce "add" "cols" %d : !gir.tile<l1, f32, [1, 64]>
  %sb = gir.broadcast %s like %d : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, 64]>
  %r = gir.binary "sub" %d, %sb : !gir.tile<l1, f32, [1, 64]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  gir.store %r, %to stream when(512*M - 65536) : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}

// The next row is not asked for, and the loop that reads this one first stores nothing.
// CHECK-LABEL: func.func @long_rows(
// CHECK-NOT: llvm.intr.prefetch
gir.kernel @long_rows(%x : !gir.view<dram, f32, [M, 131072]> in, %y : !gir.view<dram, f32, [M, 131072]> out)
    dims(%M : [0, 4096]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 131072]> -> !gir.slice<dram, f32, [1, 131072]>
  %t = gir.load %from prefetch(4096) : !gir.slice<dram, f32, [1, 131072]> -> !gir.tile<l1, f32, [1, 131072]>
  %m = gir.reduce "max" "cols" %t : !gir.tile<l1, f32, [1, 131072]>
  %mb = gir.broadcast %m like %t : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, 131072]>
  %d = gir.binary "sub" %t, %mb : !gir.tile<l1, f32, [1, 131072]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 131072]> -> !gir.slice<dram, f32, [1, 131072]>
  gir.store %d, %to stream when(1048576*M - 65536) : !gir.tile<l1, f32, [1, 131072]>, !gir.slice<dram, f32, [1, 131072]>
}

// Sizes stand on the side of a comparison where they are positive, and all of them must hold. The loop that reads a row first asks
// for what lies 2048 bytes ahead where it streams; where the row is too long the next one is not asked for.
// CHECK-LABEL: func.func @conditions(
// CHECK: %[[SMALL:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : i64
// CHECK: %[[BIG:.*]] = arith.cmpi sge, %{{.*}}, %{{.*}} : i64
// CHECK: %[[BOTH:.*]] = arith.andi %[[SMALL]], %[[BIG]] : i1
// CHECK: scf.for
// CHECK: arith.constant 512 : i64
// CHECK: llvm.intr.prefetch
// CHECK: scf.if %[[BOTH]] {
// CHECK-NEXT: llvm.fence seq_cst
gir.kernel @conditions(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 4096], %N : [0, 4096]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %from prefetch(2048, next when(1024 - N)) : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %r = gir.unary "neg" %t : !gir.tile<l1, f32, [1, N]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %r, %to stream when(4000 - M, 8*M*N - 512) : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

// Two stores of one loop go past the caches where both may. Without a condition one always may.
// CHECK-LABEL: func.func @two(
// CHECK: %[[LARGE:.*]] = arith.cmpi sge
// CHECK: %[[ALWAYS:.*]] = arith.constant true
// CHECK: scf.for
// CHECK: arith.andi %[[LARGE]], %[[ALWAYS]] : i1
// CHECK-COUNT-2: nontemporal
// CHECK: scf.if %[[LARGE]] {
// CHECK-NEXT: llvm.fence
// CHECK: scf.if %[[ALWAYS]] {
// CHECK-NEXT: llvm.fence
gir.kernel @two(%x : !gir.view<dram, f32, [M, 64]> in, %y : !gir.view<dram, f32, [M, 64]> out,
    %z : !gir.view<dram, f32, [M, 64]> out) dims(%M : [0, 4096]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  %n = gir.unary "neg" %t : !gir.tile<l1, f32, [1, 64]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  gir.store %t, %to stream when(M - 100) : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
  %also = gir.slice %z[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  gir.store %n, %also stream : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}
