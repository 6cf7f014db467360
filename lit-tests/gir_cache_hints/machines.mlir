// Without a machine, and with one without vectors or caches.

// DEFINE: %{hints} = sutura-opt %s --split-input-file --gir-cache-hints --verify-diagnostics --remarks-filter=gir-cache-hints
// RUN: %{hints} | FileCheck %s

// CHECK-NOT: prefetch
// CHECK-NOT: stream
// CHECK: gir.kernel @none
// expected-remark @below {{@none says nothing of caches: the module describes no machine}}
gir.kernel @none(%x : !gir.view<dram, f32, [M, 64]> in, %y : !gir.view<dram, f32, [M, 64]> out) dims(%M : [0, 4096]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  gir.store %t, %to : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}

// -----

target.machine @scalar {triple = "riscv64-unknown-linux-gnu", features = ""} {
  target.space @l1 {class = "sram", owner = "unit", bytes = 32768, align = 64, cached}
  target.space @dram {class = "dram", owner = "all", stream = 65536}
}
// CHECK: gir.kernel @scalars
// CHECK: gir.load %{{.*}} prefetch(next) :
// CHECK-NOT: stream when
gir.kernel @scalars(%x : !gir.view<dram, f32, [M, 64]> in, %y : !gir.view<dram, f32, [M, 64]> out) dims(%M : [0, 4096]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  // expected-remark @below {{the load may ask for the next row}}
  %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  // expected-remark @below {{the store stays in the caches: the machine has no caches, or no vectors}}
  gir.store %t, %to : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}

// -----

target.machine @no_cache {triple = "x86_64-unknown-linux-gnu", features = "+avx512f"} {
  target.space @vec {class = "reg", owner = "unit", bytes = 2048, vector = 64}
  target.space @dram {class = "dram", owner = "all"}
}
// CHECK: gir.kernel @nothing_near
// CHECK-NOT: prefetch(
// CHECK-NOT: stream when
gir.kernel @nothing_near(%x : !gir.view<dram, f32, [M, 64]> in, %y : !gir.view<dram, f32, [M, 64]> out) dims(%M : [0, 4096]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  // expected-remark @below {{nothing is asked for ahead: a vector is longer than a line}}
  %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<dram, f32, [1, 64]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  // expected-remark @below {{the store stays in the caches: the machine has no caches, or no vectors}}
  gir.store %t, %to : !gir.tile<dram, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}

// -----

// More bytes than a size may be are no condition.
target.machine @huge {triple = "x86_64-unknown-linux-gnu", features = "+avx512f"} {
  target.space @vec {class = "reg", owner = "unit", bytes = 2048, vector = 64}
  target.space @l1 {class = "sram", owner = "unit", bytes = 32768, align = 64, cached}
  target.space @dram {class = "dram", owner = "all", stream = 65536}
}
// CHECK: gir.kernel @beyond
// CHECK-NOT: stream when
gir.kernel @beyond(%x : !gir.view<dram, f64, [M, 2000000000000000000]> in, %y : !gir.view<dram, f64, [M, 64]> out) dims(%M : [0, 4096]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f64, [M, 2000000000000000000]> -> !gir.slice<dram, f64, [1, 64]>
  // expected-remark @below {{the load may ask for the next row}}
  %t = gir.load %from : !gir.slice<dram, f64, [1, 64]> -> !gir.tile<l1, f64, [1, 64]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f64, [M, 64]> -> !gir.slice<dram, f64, [1, 64]>
  // expected-remark @below {{the store stays in the caches: the bytes that a launch touches are more than a size may be}}
  gir.store %t, %to : !gir.tile<l1, f64, [1, 64]>, !gir.slice<dram, f64, [1, 64]>
}
