// Threads of a unit: as its longest row is worth, a subgroup otherwise, and what the kernel says already.
// RUN: sutura-opt %s --split-input-file --gir-unit-threads --remarks-filter=gir-unit-threads -o %t.gir 2> %t.said
// RUN: FileCheck %s --input-file=%t.gir
// RUN: FileCheck %s --input-file=%t.said --check-prefix=SAID
// RUN: sutura-opt %s --split-input-file --gir-unit-threads --gir-unit-threads | FileCheck %s
// RUN: not sutura-opt %s --gir-unit-threads=subgroup=48 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: option `subgroup` takes a power of two, not `48`
// Without a machine the option says how many threads run in lockstep.
// RUN: sutura-opt %s --split-input-file --gir-unit-threads=subgroup=64 | FileCheck %s --check-prefix=OTHER
// OTHER: gir.kernel @rows{{.*}} threads(512)
// OTHER: gir.kernel @short{{.*}} threads(64)
// OTHER: gir.kernel @undescribed{{.*}} threads(512)

target.machine @device {triple = "nvptx64-nvidia-cuda", features = "+ptx80", subgroup = 32} {
  target.space @vec {class = "reg", owner = "unit", bytes = 65536}
  target.space @l1 {class = "sram", owner = "group", bytes = 32768, align = 16, cached}
  target.space @dram {class = "dram", owner = "all"}
}

// CHECK: gir.kernel @rows
// CHECK-SAME: units(1) threads(512) {
// SAID: a unit of @rows is 512 threads: its longest row has at most 8192 columns
gir.kernel @rows(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out) dims(%M : [0, 4096], %N : [1, 8192]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %t, %to : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

// CHECK: gir.kernel @short
// CHECK-SAME: units(1) threads(32) {
// SAID: a unit of @short is 32 threads: its longest row has at most 64 columns
gir.kernel @short(%x : !gir.view<dram, f32, [M, 64]> in, %y : !gir.view<dram, f32, [M, 64]> out) dims(%M : [0, 4096]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  gir.store %t, %to : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}

// CHECK: gir.kernel @registers
// CHECK-SAME: units(1) threads(32) {
// SAID: a unit of @registers is 32 threads: it computes no rows
gir.kernel @registers(%x : !gir.view<dram, f32, [M, 64]> in, %y : !gir.view<dram, f32, [M, 64]> out) dims(%M : [0, 4096]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<vec, f32, [1, 64]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  gir.store %t, %to : !gir.tile<vec, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}

// What a kernel says stays.
// CHECK: gir.kernel @said
// CHECK-SAME: units(1) threads(128) {
gir.kernel @said(%x : !gir.view<dram, f32, [M, 64]> in, %y : !gir.view<dram, f32, [M, 64]> out) dims(%M : [0, 4096]) grid(%i = M) units(1) threads(128) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  gir.store %t, %to : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}

// Units of one group are subgroups, however long rows are.
// CHECK: gir.kernel @several
// CHECK-SAME: 4) threads(32) {
// SAID: a unit of @several is 32 threads: units of one group are subgroups
gir.kernel @several(%x : !gir.view<dram, f32, [4*M, 8192]> in, %y : !gir.view<dram, f32, [4*M, 8192]> out) dims(%M : [0, 4096]) grid(%i = M) units(%u, 4) {
  %zero = arith.constant 0 : index
  %r = gir.index affine_map<(d0, d1) -> (d0 * 4 + d1)>(%i, %u)
  %from = gir.slice %x[%r, %zero] cols(1) : !gir.view<dram, f32, [4*M, 8192]> -> !gir.slice<dram, f32, [1, 8192]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 8192]> -> !gir.tile<l1, f32, [1, 8192]>
  %to = gir.slice %y[%r, %zero] cols(1) : !gir.view<dram, f32, [4*M, 8192]> -> !gir.slice<dram, f32, [1, 8192]>
  gir.store %t, %to : !gir.tile<l1, f32, [1, 8192]>, !gir.slice<dram, f32, [1, 8192]>
}

// -----

// CHECK: gir.kernel @undescribed
// CHECK-SAME: units(1) {
// SAID: no kernel gets threads: the module describes no machine
gir.kernel @undescribed(%x : !gir.view<dram, f32, [M, 8192]> in, %y : !gir.view<dram, f32, [M, 8192]> out) dims(%M : [0, 4096]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 8192]> -> !gir.slice<dram, f32, [1, 8192]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 8192]> -> !gir.tile<l1, f32, [1, 8192]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 8192]> -> !gir.slice<dram, f32, [1, 8192]>
  gir.store %t, %to : !gir.tile<l1, f32, [1, 8192]>, !gir.slice<dram, f32, [1, 8192]>
}

// -----

target.machine @processor {triple = "x86_64-unknown-linux-gnu", features = "+avx512f"} {
  target.space @vec {class = "reg", owner = "unit", bytes = 2048, vector = 64}
  target.space @l1 {class = "sram", owner = "unit", bytes = 32768, align = 64, cached}
  target.space @dram {class = "dram", owner = "all"}
}
// CHECK: gir.kernel @of_a_processor
// CHECK-SAME: units(1) {
// SAID: no kernel gets threads: a unit of 'processor' is not made of threads
gir.kernel @of_a_processor(%x : !gir.view<dram, f32, [M, 64]> in, %y : !gir.view<dram, f32, [M, 64]> out) dims(%M : [0, 4096]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  gir.store %t, %to : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}
