// What goes past the caches, what may wait, and what is asked for ahead, as the machine's numbers say.

// RUN: sutura-opt %s --gir-cache-hints | FileCheck %s
// RUN: sutura-opt %s --gir-cache-hints --threads=1 -o %t.once
// RUN: sutura-opt %t.once --gir-cache-hints -o %t.twice
// RUN: diff %t.once %t.twice
// RUN: sutura-opt %s --gir-cache-hints --verify-diagnostics --remarks-filter=gir-cache-hints -o /dev/null
// RUN: sutura-opt %s --gir-cache-hints --pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=STATS
// STATS: GirCacheHints
// STATS: (S) 1 num-homes
// STATS: (S) 6 num-streams
// STATS: (S) 2 num-deferred
// STATS: (S) 7 num-prefetches

target.machine @m {triple = "x86_64-unknown-linux-gnu", features = "+avx512f"} {
  target.space @vec {class = "reg", owner = "unit", bytes = 2048, vector = 64}
  target.space @l1 {class = "sram", owner = "unit", bytes = 32768, align = 64, cached}
  target.space @l2 {class = "sram", owner = "unit", bytes = 1048576, align = 64, cached}
  target.space @dram {class = "dram", owner = "all", stream = 65536}
}

// A row that fits into a quarter of the cache is asked for while the one before computes; what is stored last waits for it.
// CHECK-LABEL: gir.kernel @softmax
// CHECK: gir.load %{{.*}} prefetch(4096, next) :
// CHECK: gir.store %{{.*}}, %{{.*}} stream when(8*M*N - 65536) defer :
gir.kernel @softmax(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 4096], %N : [0, 65536]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  // expected-remark @below {{the load may ask for 4096 bytes ahead, and for the next row}}
  %t = gir.load %from : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  // expected-remark @below {{the row lives in the output until it is stored there}}
  %e = gir.unary "exp" %t : !gir.tile<l1, f32, [1, N]>
  %sum = gir.reduce "add" "cols" %e : !gir.tile<l1, f32, [1, N]>
  %b = gir.broadcast %sum like %e : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %r = gir.binary "div" %e, %b : !gir.tile<l1, f32, [1, N]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  // expected-remark @below {{the store goes past the caches where 8*M*N - 65536 is not negative, and may wait for the next row}}
  gir.store %r, %to : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

// Nothing is combined before: the store has nothing to wait for. Where rows may be long, sizes decide.
// CHECK-LABEL: gir.kernel @elementwise
// CHECK: gir.load %{{.*}} prefetch(4096, next when(-N + 65536)) :
// CHECK: gir.load %{{.*}} :
// CHECK: gir.store %{{.*}}, %{{.*}} stream when(8*M*N + 4*N - 65536) :
gir.kernel @elementwise(%x : !gir.view<dram, f32, [M, N]> in, %bias : !gir.view<dram, f32, [N]> in,
    %y : !gir.view<dram, f32, [M, N]> out) dims(%M : [0, 4096], %N : [0, 1000000]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  // expected-remark @below {{4096 bytes ahead, and for the next row where -N + 65536 is not negative}}
  %t = gir.load %from : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %bs = gir.slice %bias[%zero] cols(0) : !gir.view<dram, f32, [N]> -> !gir.slice<dram, f32, [1, N]>
  // expected-remark @below {{nothing is asked for ahead: the next row reads the same}}
  %b = gir.load %bs : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %r = gir.binary "add" %t, %b : !gir.tile<l1, f32, [1, N]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  // expected-remark @below {{goes past the caches where 8*M*N + 4*N - 65536 is not negative}}
  gir.store %r, %to : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

// What the kernel requires bounds the launch: this one is never large. Neither is asked for what lies a few lines ahead.
// CHECK-LABEL: gir.kernel @small
// CHECK: gir.load %{{.*}} prefetch(next) :
// CHECK: gir.store %{{.*}}, %{{[0-9a-z]*}} :
gir.kernel @small(%x : !gir.view<dram, f32, [M, 64]> in, %y : !gir.view<dram, f32, [M, 64]> out)
    dims(%M : [0, 4096]) requires([127 - M]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  // expected-remark @below {{the load may ask for the next row}}
  %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  // expected-remark @below {{the store stays in the caches: no launch touches 65536 bytes}}
  gir.store %t, %to : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}

// What is written by hand stays, and is the only thing of its kind.
// CHECK-LABEL: gir.kernel @by_hand
// CHECK: gir.load %{{.*}} prefetch(128) :
// CHECK: gir.store %{{.*}}, %{{.*}} stream when(M - 1) :
gir.kernel @by_hand(%x : !gir.view<dram, f32, [M, 64]> in, %y : !gir.view<dram, f32, [M, 64]> out)
    dims(%M : [0, 4096]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  %t = gir.load %from prefetch(128) : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  gir.store %t, %to stream when(M - 1) : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}

// Rows that a group does one after another are like groups; the row that lies three rows further is as far for each.
// CHECK-LABEL: gir.kernel @blocks
// CHECK: gir.for
// CHECK: gir.load %{{.*}} prefetch(4096, next) :
// CHECK: gir.store %{{.*}}, %{{.*}} stream when(512*M - 65536) defer :
gir.kernel @blocks(%x : !gir.view<dram, f32, [M, 64]> in, %y : !gir.view<dram, f32, [M, 64]> out)
    dims(%M : [0, 4096]) grid(%i = (M + 15) floordiv 16) units(1) {
  %zero = arith.constant 0 : index
  %lo = gir.index affine_map<(d0) -> (d0 * 16)>(%i)
  %hi = gir.index affine_map<(d0)[s0] -> (d0 * 16 + 16, s0)>(%i, %M)
  gir.for %k = %lo to %hi {
    %from = gir.slice %x[%k, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
    // expected-remark @below {{4096 bytes ahead, and for the next row}}
    %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
    %sum = gir.reduce "add" "cols" %t : !gir.tile<l1, f32, [1, 64]>
    %b = gir.broadcast %sum like %t : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, 64]>
    %r = gir.binary "div" %t, %b : !gir.tile<l1, f32, [1, 64]>
    %to = gir.slice %y[%k, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
    // expected-remark @below {{and may wait for the next row}}
    gir.store %r, %to : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
  }
}

// What is stored and read under other dimensions is the same memory.
// CHECK-LABEL: gir.kernel @reshaped
// CHECK: gir.load %{{.*}} prefetch(4096, next) :
// CHECK: gir.store %{{.*}}, %{{.*}} stream when(
gir.kernel @reshaped(%x : !gir.view<dram, f32, [M, 8, 64]> in, %y : !gir.view<dram, f32, [M, 8, 64]> out) dims(%M : [0, 4194304]) grid(%i = 8*M) units(1) {
  %zero = arith.constant 0 : index
  %xs = gir.identity %x : !gir.view<dram, f32, [M, 8, 64]> -> !gir.view<dram, f32, [8*M, 64]>
  %ys = gir.identity %y : !gir.view<dram, f32, [M, 8, 64]> -> !gir.view<dram, f32, [8*M, 64]>
  %from = gir.slice %xs[%i, %zero] cols(1) : !gir.view<dram, f32, [8*M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  // expected-remark @below {{the load may ask for 4096 bytes ahead, and for the next row}}
  %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  %to = gir.slice %ys[%i, %zero] cols(1) : !gir.view<dram, f32, [8*M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  // expected-remark @below {{the store goes past the caches where 4096*M - 65536 is not negative}}
  gir.store %t, %to : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}

// Memory that is read as well, memory of the group, columns apart, truth values and registers stay in the caches.
// CHECK-LABEL: gir.kernel @stays
// CHECK-NOT: stream
// CHECK: gir.kernel @halves
gir.kernel @stays(%x : !gir.view<dram, f32, [M, 64]> inout, %y : !gir.view<dram, f32, [64, M]> out,
    %z : !gir.view<dram, i1, [M, 64]> out, %w : !gir.view<dram, f32, [M, 1]> out) dims(%M : [0, 4096]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %near = gir.alloc owner("unit") : !gir.view<l1, f32, [1, 64]>
  %at = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  %t = gir.load %at : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  %ns = gir.slice %near[%zero, %zero] cols(1) : !gir.view<l1, f32, [1, 64]> -> !gir.slice<l1, f32, [1, 64]>
  // expected-remark @below {{stays in the caches: it is to memory of the kernel's own}}
  gir.store %t, %ns : !gir.tile<l1, f32, [1, 64]>, !gir.slice<l1, f32, [1, 64]>
  %n = gir.load %ns : !gir.slice<l1, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  %r = gir.unary "neg" %n : !gir.tile<l1, f32, [1, 64]>
  // expected-remark @below {{stays in the caches: the kernel reads the view too}}
  gir.store %r, %at : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
  %ys = gir.slice %y[%zero, %i] cols(0) : !gir.view<dram, f32, [64, M]> -> !gir.slice<dram, f32, [1, 64]>
  // expected-remark @below {{stays in the caches: its columns do not lie side by side}}
  gir.store %n, %ys : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
  %p = gir.compare "olt" %n, %n : !gir.tile<l1, f32, [1, 64]>
  %zs = gir.slice %z[%i, %zero] cols(1) : !gir.view<dram, i1, [M, 64]> -> !gir.slice<dram, i1, [1, 64]>
  // expected-remark @below {{stays in the caches: truth values are widened when they are stored}}
  gir.store %p, %zs : !gir.tile<l1, i1, [1, 64]>, !gir.slice<dram, i1, [1, 64]>
  %sum = gir.reduce "add" "cols" %n : !gir.tile<l1, f32, [1, 64]>
  %ws = gir.slice %w[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 1]> -> !gir.slice<dram, f32, [1, 1]>
  // expected-remark @below {{stays in the caches: the tile lies in registers, of which a store fills no line}}
  gir.store %sum, %ws : !gir.tile<l1, f32, [1, 1]>, !gir.slice<dram, f32, [1, 1]>
}

// Bytes count, not elements: of 16 bits twice as many are near. Data decides what the second load reads.
// CHECK-SAME: (
// CHECK: gir.load %{{.*}} prefetch(4096, next when(-N + 131072)) :
// CHECK: gir.load %{{.*}} -> !gir.tile<vec, i64
// CHECK: gir.load %{{[0-9a-z]*}} :
// CHECK: gir.load %{{.*}} prefetch(4096) :
// CHECK: gir.store %{{.*}}, %{{.*}} stream when(
gir.kernel @halves(%x : !gir.view<dram, f16, [M, N]> in, %i : !gir.view<dram, i64, [M]> in, %l : !gir.view<dram, f16, [M, 1000000]> in,
    %y : !gir.view<dram, f16, [M, N]> out, %z : !gir.view<dram, f16, [M, 1000000]> out)
    dims(%M : [1, 4096], %N : [0, 1000000]) grid(%m = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%m, %zero] cols(1) : !gir.view<dram, f16, [M, N]> -> !gir.slice<dram, f16, [1, N]>
  // expected-remark @below {{4096 bytes ahead, and for the next row where -N + 131072 is not negative}}
  %t = gir.load %from : !gir.slice<dram, f16, [1, N]> -> !gir.tile<l1, f16, [1, N]>
  %is = gir.slice %i[%m] : !gir.view<dram, i64, [M]> -> !gir.slice<dram, i64, [1, 1]>
  %it = gir.load %is : !gir.slice<dram, i64, [1, 1]> -> !gir.tile<vec, i64, [1, 1]>
  %at = gir.pick "words" %it below %M at %m : !gir.tile<vec, i64, [1, 1]>
  %picked = gir.slice %x[%at, %zero] cols(1) : !gir.view<dram, f16, [M, N]> -> !gir.slice<dram, f16, [1, N]>
  // expected-remark @below {{nothing is asked for ahead: data decides where it is read}}
  %u = gir.load %picked : !gir.slice<dram, f16, [1, N]> -> !gir.tile<l1, f16, [1, N]>
  %s = gir.binary "add" %t, %u : !gir.tile<l1, f16, [1, N]>
  %ls = gir.slice %l[%m, %zero] cols(1) : !gir.view<dram, f16, [M, 1000000]> -> !gir.slice<dram, f16, [1, 1000000]>
  // expected-remark @below {{the load may ask for 4096 bytes ahead}}
  %v = gir.load %ls : !gir.slice<dram, f16, [1, 1000000]> -> !gir.tile<l1, f16, [1, 1000000]>
  %to = gir.slice %y[%m, %zero] cols(1) : !gir.view<dram, f16, [M, N]> -> !gir.slice<dram, f16, [1, N]>
  // expected-remark @below {{goes past the caches}}
  gir.store %s, %to : !gir.tile<l1, f16, [1, N]>, !gir.slice<dram, f16, [1, N]>
  %also = gir.slice %z[%m, %zero] cols(1) : !gir.view<dram, f16, [M, 1000000]> -> !gir.slice<dram, f16, [1, 1000000]>
  // expected-remark @below {{goes past the caches}}
  gir.store %v, %also : !gir.tile<l1, f16, [1, 1000000]>, !gir.slice<dram, f16, [1, 1000000]>
}
