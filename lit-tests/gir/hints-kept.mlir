// Passes that know nothing of caches keep what loads and stores say of them.

// RUN: sutura-opt %s --pass-pipeline='builtin.module(canonicalize,cse,gir-simplify,loop-invariant-code-motion,canonicalize)' | FileCheck %s
// RUN: sutura-opt %s --verify-roundtrip -o /dev/null

// Equal loads that say the same become one; others stay. A loop that runs once goes, and what stood in it says what it said.
// CHECK-LABEL: gir.kernel @kept
// CHECK-COUNT-1: gir.load %{{.*}} prefetch(4096, next) :
// CHECK: gir.load %{{.*}} prefetch(next) :
// CHECK-NOT: gir.load
// CHECK-NOT: gir.for
// CHECK: gir.store %{{.*}}, %{{.*}} stream when(512*M - 65536) defer :
gir.kernel @kept(%x : !gir.view<dram, f32, [M, 64]> in, %y : !gir.view<dram, f32, [M, 64]> out)
    dims(%M : [0, 4096]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  gir.for %k = %zero to %one {
    %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
    %a = gir.load %from prefetch(4096, next) : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
    %b = gir.load %from prefetch(4096, next) : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
    %c = gir.load %from prefetch(next) : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
    %s = gir.binary "add" %a, %b : !gir.tile<l1, f32, [1, 64]>
    %r = gir.binary "add" %s, %c : !gir.tile<l1, f32, [1, 64]>
    %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
    gir.store %r, %to stream when(512*M - 65536) defer : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
  }
}

// What a loop does not change leaves it, with what it says.
// CHECK-LABEL: gir.kernel @moved
// CHECK: gir.load %{{.*}} prefetch(next when(-M + 1024)) :
// CHECK: gir.for
// CHECK-NOT: gir.load
// CHECK: gir.store %{{.*}}, %{{.*}} stream :
gir.kernel @moved(%x : !gir.view<dram, f32, [M, 64]> in, %y : !gir.view<dram, f32, [M, 64]> out)
    dims(%M : [1, 4096]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %eight = arith.constant 8 : index
  %none = gir.fill 0.0 : f32 : !gir.tile<l1, f32, [1, 64]>
  %sum = gir.for %k = %zero to %eight carry(%s = %none) : !gir.tile<l1, f32, [1, 64]> {
    %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
    %a = gir.load %from prefetch(next when(1024 - M)) : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
    %more = gir.binary "add" %s, %a : !gir.tile<l1, f32, [1, 64]>
    gir.yield %more : !gir.tile<l1, f32, [1, 64]>
  }
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  gir.store %sum, %to stream : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}
