// Which kernels get versions, and what programs do that choose, launch together, or know that rows are short.

// RUN: sutura-opt %s --gir-row-versions --remarks 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// REMARK: kernel @orphan has one version for rows of any length: no program launches it, so that none could choose
// REMARK: kernel @two has one version for rows of any length: it has rows of several lengths that are not known
// REMARK: kernel @short has versions for rows of N columns: up to 128, 512
// REMARK-NOT: and for longer rows
// REMARK: kernel @twice has versions for rows of 2*N columns: up to 512, 4096, and for longer rows

// Rows of known length, and rows that no version would be for, need no choice: nothing is said of them.
// CHECK: gir.kernel @known(
// CHECK-NOT: @known_cols
// CHECK: gir.kernel @few(
// CHECK-NOT: @few_cols
gir.kernel @known(%x : !gir.view<dram, f32, [M, 100000]> in, %y : !gir.view<dram, f32, [M, 100000]> out)
    dims(%M : [0, 1000000]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 100000]> -> !gir.slice<dram, f32, [1, 100000]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 100000]> -> !gir.tile<l1, f32, [1, 100000]>
  %e = gir.unary "exp" %t : !gir.tile<l1, f32, [1, 100000]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 100000]> -> !gir.slice<dram, f32, [1, 100000]>
  gir.store %e, %to : !gir.tile<l1, f32, [1, 100000]>, !gir.slice<dram, f32, [1, 100000]>
}
gir.kernel @few(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 1000000], %N : [1, 100]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %e = gir.unary "exp" %t : !gir.tile<l1, f32, [1, N]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %e, %to : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

// CHECK: gir.kernel @orphan(
// CHECK-NOT: @orphan_cols
gir.kernel @orphan(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 1000000], %N : [1, 10000]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %e = gir.unary "exp" %t : !gir.tile<l1, f32, [1, N]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %e, %to : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

// CHECK: gir.kernel @two(
// CHECK-NOT: @two_cols
gir.kernel @two(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out, %z : !gir.view<dram, f32, [M, K]> in, %w : !gir.view<dram, f32, [M, K]> out)
    dims(%M : [0, 1000000], %N : [1, 100000], %K : [1, 100000]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from0 = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t0 = gir.load %from0 : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %to0 = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %t0, %to0 : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
  %from1 = gir.slice %z[%i, %zero] cols(1) : !gir.view<dram, f32, [M, K]> -> !gir.slice<dram, f32, [1, K]>
  %t1 = gir.load %from1 : !gir.slice<dram, f32, [1, K]> -> !gir.tile<l1, f32, [1, K]>
  %to1 = gir.slice %w[%i, %zero] cols(1) : !gir.view<dram, f32, [M, K]> -> !gir.slice<dram, f32, [1, K]>
  gir.store %t1, %to1 : !gir.tile<l1, f32, [1, K]>, !gir.slice<dram, f32, [1, K]>
}

// The program's rows are shorter than the kernel would take: the kernel itself is not launched any more.
// CHECK: gir.kernel @short_cols128(
// CHECK: gir.kernel @short_cols512(
// CHECK-NOT: gir.kernel @short(
gir.kernel @short(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 1000000], %N : [1, 1000]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %e = gir.unary "exp" %t : !gir.tile<l1, f32, [1, N]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %e, %to : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

// Versions differ in what their sizes allow: the least row of this one is longer than the first limit.
// CHECK: gir.kernel @twice_cols512(
// CHECK-SAME: requires([-2*N + 512])
// CHECK: gir.kernel @twice_cols4096(
// CHECK: gir.kernel @twice(
gir.kernel @twice(%x : !gir.view<dram, f32, [M, 2*N]> in, %y : !gir.view<dram, f32, [M, 2*N]> out)
    dims(%M : [0, 1000000], %N : [65, 5000]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 2*N]> -> !gir.slice<dram, f32, [1, 2*N]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 2*N]> -> !gir.tile<l1, f32, [1, 2*N]>
  %e = gir.unary "exp" %t : !gir.tile<l1, f32, [1, 2*N]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 2*N]> -> !gir.slice<dram, f32, [1, 2*N]>
  gir.store %e, %to : !gir.tile<l1, f32, [1, 2*N]>, !gir.slice<dram, f32, [1, 2*N]>
}

// CHECK-LABEL: rt.program @main
rt.program @main(%a : !rt.buffer<f32, [A, S]> in "a", %b : !rt.buffer<f32, [A, 2*L]> in "b", %k : !rt.buffer<f32, [A, 100000]> in "k", %o : !rt.buffer<f32, [A, S]> out "o", %p : !rt.buffer<f32, [A, S]> out "p", %q : !rt.buffer<f32, [A, 2*L]> out "q", %r : !rt.buffer<f32, [A, 100000]> out "r", %t : !rt.buffer<f32, [A, S]> out "t") symbols(A : [1, 1000000], S : [1, 400], L : [65, 5000]) {
  // CHECK: select if [-S + 128] {
  // CHECK-NEXT: launch @short_cols128(
  // CHECK-NEXT: }, {
  // CHECK-NEXT: launch @short_cols512(
  // CHECK-NEXT: }
  launch @short(%a, %o) dims [A, S] : !rt.buffer<f32, [A, S]>, !rt.buffer<f32, [A, S]>
  // Launches that run together are chosen together: where one of them has no shorter version, another may.
  // CHECK-NEXT: select if [-S + 128, -2*L + 512], [-2*L + 4096] {
  // CHECK-NEXT: packed {
  // CHECK-NEXT: launch @short_cols128(
  // CHECK-NEXT: launch @twice_cols512(
  // CHECK-NEXT: }
  packed {
    launch @short(%a, %p) dims [A, S] : !rt.buffer<f32, [A, S]>, !rt.buffer<f32, [A, S]>
    launch @twice(%b, %q) dims [A, L] : !rt.buffer<f32, [A, 2*L]>, !rt.buffer<f32, [A, 2*L]>
  }
  // CHECK: launch @known(
  launch @known(%k, %r) dims [A] : !rt.buffer<f32, [A, 100000]>, !rt.buffer<f32, [A, 100000]>
  // What a guard has said already is not asked again.
  // CHECK-NEXT: select if [-S + 50], [A - 10, -S + 128], [A - 10] {
  // CHECK-NEXT: launch @short_cols128(
  // CHECK-NEXT: }, {
  // CHECK-NEXT: launch @short_cols128(
  // CHECK-NEXT: }, {
  // CHECK-NEXT: launch @short_cols512(
  // CHECK-NEXT: }, {
  // CHECK-NEXT: copy
  // CHECK-NEXT: }
  select if [50 - S], [A - 10] {
    launch @short(%a, %t) dims [A, S] : !rt.buffer<f32, [A, S]>, !rt.buffer<f32, [A, S]>
  }, {
    launch @short(%a, %t) dims [A, S] : !rt.buffer<f32, [A, S]>, !rt.buffer<f32, [A, S]>
  }, {
    copy %a, %t : !rt.buffer<f32, [A, S]>, !rt.buffer<f32, [A, S]>
  }
}
