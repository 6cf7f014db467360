// LLVM is told of a loop which trips code has side by side; and what comes out has them.
// RUN: sutura-opt %s --convert-gir-to-cpu | FileCheck %s
// RUN: sutura-opt %s --convert-gir-to-gpu=subgroup=32 | FileCheck %s
// RUN: sutura-opt %s --convert-gir-to-cpu --convert-scf-to-cf | FileCheck %s --check-prefix=BRANCH

// CHECK: scf.for
// CHECK: } {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, count = 4 : i32>>}
// BRANCH: cf.br {{.*}} {loop_annotation = #llvm.loop_annotation<unroll = <disable = false, count = 4 : i32>>}
gir.kernel @sums(%x : !gir.view<dram, f32, [M, N, 16]> in, %y : !gir.view<dram, f32, [M, 16]> out) dims(%M : [0, 4096], %N : [0, 4096]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %init = gir.fill 0.0 : f32 : !gir.tile<vec, f32, [1, 16]>
  %sum = gir.for %k = %zero to %N unroll(4) carry(%acc = %init) : !gir.tile<vec, f32, [1, 16]> {
    %from = gir.slice %x[%i, %k, %zero] cols(2) : !gir.view<dram, f32, [M, N, 16]> -> !gir.slice<dram, f32, [1, 16]>
    %t = gir.load %from : !gir.slice<dram, f32, [1, 16]> -> !gir.tile<vec, f32, [1, 16]>
    %next = gir.binary "add" %acc, %t : !gir.tile<vec, f32, [1, 16]>
    gir.yield %next : !gir.tile<vec, f32, [1, 16]>
  }
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 16]> -> !gir.slice<dram, f32, [1, 16]>
  gir.store %sum, %to : !gir.tile<vec, f32, [1, 16]>, !gir.slice<dram, f32, [1, 16]>
}
