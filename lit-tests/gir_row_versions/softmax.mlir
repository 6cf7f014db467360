// A kernel for rows of unknown length: the program launches a version that requires rows as short as they are.

// RUN: sutura-opt %s --gir-row-versions --pass-statistics 2>%t.stats | FileCheck %s
// RUN: FileCheck %s --check-prefix=STATS --input-file=%t.stats
// RUN: sutura-opt %s --gir-row-versions | sutura-opt | FileCheck %s
// RUN: sutura-opt %s --gir-row-versions=subgroup=64 | FileCheck %s --check-prefix=WIDE
// RUN: not sutura-opt %s --gir-row-versions=subgroup=48 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: sutura-opt %s --gir-row-versions --remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: sutura-opt %s --gir-row-versions --convert-gir-to-gpu | FileCheck %s --check-prefix=GPU

// STATS: (S) 1 num-kernels
// STATS: (S) 5 num-versions
// OPTION: option `subgroup` takes a power of two, not `48`
// REMARK: kernel @softmax has versions for rows of N columns: up to 128, 512, 4096, 16384, 32768, and for longer rows

// What it requires stays required, and reports know a version by the kernel's name.
// CHECK: gir.kernel @softmax_cols128(
// CHECK-SAME: requires([M - 1, -N + 128])
// CHECK: } attributes {rt.parts = ["softmax"]}
// CHECK: gir.kernel @softmax_cols512(
// CHECK-SAME: requires([M - 1, -N + 512])
// CHECK: gir.kernel @softmax_cols4096(
// CHECK: gir.kernel @softmax_cols16384(
// CHECK: gir.kernel @softmax_cols32768(
// CHECK: gir.kernel @softmax(
// CHECK-SAME: requires([M - 1]) grid
// WIDE: gir.kernel @softmax_cols256(
// WIDE: gir.kernel @softmax_cols1024(
// WIDE: gir.kernel @softmax_cols8192(
// WIDE: gir.kernel @softmax_cols16384(
// WIDE: gir.kernel @softmax_cols32768(
// WIDE: gir.kernel @softmax(

// A subgroup has a row for itself, which stays in registers, where rows are short; the threads of a block have longer ones.
// GPU: gpu.func @softmax_cols128(
// GPU-SAME: known_block_size = array<i32: 128, 1, 1>
// GPU-SAME: rt.groups_of_block = 4
// GPU-SAME: rt.parts = ["softmax"]
// GPU: gpu.func @softmax_cols512(
// GPU-SAME: known_block_size = array<i32: 128, 1, 1>
// GPU: gpu.func @softmax_cols4096(
// GPU-SAME: known_block_size = array<i32: 256, 1, 1>
// GPU: gpu.func @softmax_cols16384(
// GPU-SAME: known_block_size = array<i32: 1024, 1, 1>
// GPU: gpu.func @softmax_cols32768(
// GPU-SAME: known_block_size = array<i32: 1024, 1, 1>
// GPU: gpu.func @softmax(
// GPU-SAME: known_block_size = array<i32: 512, 1, 1>
gir.kernel @softmax(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 1000000], %N : [1, 1000000]) requires([M - 1]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %m = gir.reduce "max" "cols" %t : !gir.tile<l1, f32, [1, N]>
  %mb = gir.broadcast %m like %t : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %d = gir.binary "sub" %t, %mb : !gir.tile<l1, f32, [1, N]>
  %e = gir.unary "exp" %d : !gir.tile<l1, f32, [1, N]>
  %s = gir.reduce "add" "cols" %e : !gir.tile<l1, f32, [1, N]>
  %sb = gir.broadcast %s like %e : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %r = gir.binary "div" %e, %sb : !gir.tile<l1, f32, [1, N]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %r, %to : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

// CHECK-LABEL: rt.program @main
// CHECK: select if [-B + 128], [-B + 512], [-B + 4096], [-B + 16384], [-B + 32768] {
// CHECK-NEXT: launch @softmax_cols128(%x, %y) dims [A, B]
// CHECK-NEXT: }, {
// CHECK-NEXT: launch @softmax_cols512(%x, %y) dims [A, B]
// CHECK-NEXT: }, {
// CHECK-NEXT: launch @softmax_cols4096(%x, %y) dims [A, B]
// CHECK-NEXT: }, {
// CHECK-NEXT: launch @softmax_cols16384(%x, %y) dims [A, B]
// CHECK-NEXT: }, {
// CHECK-NEXT: launch @softmax_cols32768(%x, %y) dims [A, B]
// CHECK-NEXT: }, {
// CHECK-NEXT: launch @softmax(%x, %y) dims [A, B]
// CHECK-NEXT: }
rt.program @main(%x : !rt.buffer<f32, [A, B]> in "x", %y : !rt.buffer<f32, [A, B]> out "y") symbols(A : [1, 1000000], B : [1, 1000000]) {
  launch @softmax(%x, %y) dims [A, B] : !rt.buffer<f32, [A, B]>, !rt.buffer<f32, [A, B]>
}
