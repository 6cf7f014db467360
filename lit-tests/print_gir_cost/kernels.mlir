// What kernels cost: polynomials where there are such, numbers at sizes that are given, likely, or assumed.

// RUN: sutura-opt %s --print-gir-cost -o /dev/null 2>&1 | FileCheck %s --check-prefixes=COST,NONE
// RUN: sutura-opt %s --print-gir-cost=sizes=M=10,N=100 -o /dev/null 2>&1 | FileCheck %s --check-prefix=GIVEN
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx512},print-gir-cost{sizes=M=100000,N=1000})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=MACHINE
// RUN: not sutura-opt %s --print-gir-cost=sizes=M=-1 -o /dev/null 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not sutura-opt %s --print-gir-cost=sizes=M -o /dev/null 2>&1 | FileCheck %s --check-prefix=SYNTAX
// RUN: not sutura-opt %s --print-gir-cost=sizes=N=9000 -o /dev/null 2>&1 | FileCheck %s --check-prefix=RANGE

// NEGATIVE: the size 'M' is -1: sizes are not negative
// SYNTAX: expected sizes as `M=4096`, found `M`
// RANGE: has no known cost: 'N' is 9000, not in [1, 8192] div 1

// A launch says what is likely; without a machine nothing is predicted.
// COST: @scale at M = 64, N = 1024: 64 groups, 131072 flops = 2*M*N, 65536 special
// COST-NEXT: dram: 262144 bytes read = 4*M*N, 262144 written = 4*M*N
// COST-NEXT: l1: 262144 bytes read = 4*M*N, 262144 written = 4*M*N
// COST-NEXT: compulsory: 524288 bytes
// NONE-NOT: served by
// GIVEN: @scale at M = 10, N = 100: 10 groups, 2000 flops
// MACHINE: @scale at M = 100000, N = 1000
// MACHINE: compulsory: 800000000 bytes
// MACHINE: served by dram: 800000000 bytes
// MACHINE: predicted: {{.*}} bound by dram
gir.kernel @scale(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 2147483647], %N : [1, 8192]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %s = gir.reduce "add" "cols" %t : !gir.tile<l1, f32, [1, N]>
  %b = gir.broadcast %s like %t : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %r = gir.binary "div" %t, %b : !gir.tile<l1, f32, [1, N]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %r, %to : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

// Tiles whose edges do not divide: all of them together are the view.
// COST: @tiles at M = 128: 16 groups, 0 flops, 0 special
// COST-NEXT: dram: 512 bytes read = 4*M, 512 written = 4*M
gir.kernel @tiles(%x : !gir.view<dram, f32, [M]> in, %y : !gir.view<dram, f32, [M]> out)
    dims(%M : [0, 1000000]) grid(%i = (M + 7) floordiv 8) units(1) {
  %q = gir.index affine_map<(d0) -> (d0 * 8)>(%i)
  %from = gir.slice %x[%q] cols(0) : !gir.view<dram, f32, [M]> -> !gir.slice<dram, f32, [1, 8]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 8]> -> !gir.tile<vec, f32, [1, 8]>
  %to = gir.slice %y[%q] cols(0) : !gir.view<dram, f32, [M]> -> !gir.slice<dram, f32, [1, 8]>
  gir.store %t, %to : !gir.tile<vec, f32, [1, 8]>, !gir.slice<dram, f32, [1, 8]>
}

// What data decides is taken to exist, though of nothing nothing can be picked, and to lie anywhere.
// COST: @pick at M = 128, R = 128: 128 groups
// COST-NEXT: dram: 1024 bytes read = 8*M, 512 written = 4*M
gir.kernel @pick(%x : !gir.view<dram, f32, [M, R]> in, %ids : !gir.view<dram, i32, [M]> in, %y : !gir.view<dram, f32, [M]> out)
    dims(%M : [0, 1000000], %R : [0, 1000]) grid(%i = M) units(1) {
  %place = gir.slice %ids[%i] : !gir.view<dram, i32, [M]> -> !gir.slice<dram, i32, [1, 1]>
  %id = gir.load %place : !gir.slice<dram, i32, [1, 1]> -> !gir.tile<vec, i32, [1, 1]>
  %at = gir.pick "column" %id below %R at %i : !gir.tile<vec, i32, [1, 1]>
  %from = gir.slice %x[%i, %at] rows(1) : !gir.view<dram, f32, [M, R]> -> !gir.slice<dram, f32, [1, 1]>
  %t = gir.load %from pad(0.0 : f32) : !gir.slice<dram, f32, [1, 1]> -> !gir.tile<vec, f32, [1, 1]>
  %to = gir.slice %y[%i] : !gir.view<dram, f32, [M]> -> !gir.slice<dram, f32, [1, 1]>
  gir.store %t, %to : !gir.tile<vec, f32, [1, 1]>, !gir.slice<dram, f32, [1, 1]>
}

rt.program @main(%x : !rt.buffer<f32, [B, 1024]> in "x", %y : !rt.buffer<f32, [B, 1024]> out "y")
    symbols(B : [0, 4096] likely [64]) {
  launch @scale(%x, %y) dims [B, 1024] : !rt.buffer<f32, [B, 1024]>, !rt.buffer<f32, [B, 1024]>
}
