// Which rows live in the output until they are stored there. No machine is needed for that.

// RUN: sutura-opt %s --gir-cache-hints --verify-diagnostics --remarks-filter=gir-cache-hints | FileCheck %s
// RUN: sutura-opt %s --gir-cache-hints -o %t.once
// RUN: sutura-opt %t.once --gir-cache-hints -o %t.twice
// RUN: diff %t.once %t.twice

// Rows that a group does one after another: the home is said behind the sum, in front of what needs it.
// CHECK-LABEL: gir.kernel @blocks
// CHECK: gir.for
// CHECK: %[[E:.*]] = gir.unary "exp"
// CHECK: gir.reduce "add" "cols" %[[E]]
// CHECK: %[[TO:.*]] = gir.slice
// CHECK-NEXT: %[[H:.*]] = gir.home %[[E]], %[[TO]] :
// CHECK-NEXT: gir.broadcast %{{.*}} like %[[H]]
// CHECK-NEXT: gir.binary "div" %[[H]],
// CHECK-NEXT: gir.store %{{.*}}, %[[TO]] :
// expected-remark @below {{@blocks says nothing of caches: the module describes no machine}}
gir.kernel @blocks(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 4096], %N : [0, 4096]) grid(%i = (M + 15) floordiv 16) units(1) {
  %zero = arith.constant 0 : index
  %lo = gir.index affine_map<(d0) -> (d0 * 16)>(%i)
  %hi = gir.index affine_map<(d0)[s0] -> (d0 * 16 + 16, s0)>(%i, %M)
  gir.for %k = %lo to %hi {
    %from = gir.slice %x[%k, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
    %t = gir.load %from : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
    // expected-remark @below {{the row lives in the output until it is stored there}}
    %e = gir.unary "exp" %t : !gir.tile<l1, f32, [1, N]>
    %sum = gir.reduce "add" "cols" %e : !gir.tile<l1, f32, [1, N]>
    %b = gir.broadcast %sum like %e : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
    %r = gir.binary "div" %e, %b : !gir.tile<l1, f32, [1, N]>
    %to = gir.slice %y[%k, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
    gir.store %r, %to : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
  }
}

// In the last group a part of the row is missing; of the others all is there. The first loop finds an extreme, the second does not.
// CHECK-LABEL: gir.kernel @masked
// CHECK-COUNT-1: gir.home
// expected-remark @below {{@masked says nothing of caches}}
gir.kernel @masked(%x : !gir.view<dram, f32, [N]> in, %y : !gir.view<dram, f32, [N]> out)
    dims(%N : [0, 1000]) grid(%i = (N + 63) floordiv 64) units(1) {
  %at = gir.index affine_map<(d0) -> (d0 * 64)>(%i)
  %from = gir.slice %x[%at] cols(0) : !gir.view<dram, f32, [N]> -> !gir.slice<dram, f32, [1, 64]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  // expected-remark @below {{the row lives in scratch until it is stored: the loop that computes it finds an extreme, for which it may run again}}
  %s = gir.unary "tanh" %t : !gir.tile<l1, f32, [1, 64]>
  %max = gir.reduce "max" "cols" %s : !gir.tile<l1, f32, [1, 64]>
  %m = gir.broadcast %max like %s : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, 64]>
  %d = gir.binary "sub" %s, %m : !gir.tile<l1, f32, [1, 64]>
  // expected-remark @below {{the row lives in the output until it is stored there}}
  %e = gir.unary "exp" %d : !gir.tile<l1, f32, [1, 64]>
  %sum = gir.reduce "add" "cols" %e : !gir.tile<l1, f32, [1, 64]>
  %b = gir.broadcast %sum like %e : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, 64]>
  %r = gir.binary "div" %e, %b : !gir.tile<l1, f32, [1, 64]>
  %to = gir.slice %y[%at] cols(0) : !gir.view<dram, f32, [N]> -> !gir.slice<dram, f32, [1, 64]>
  gir.store %r, %to : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}

// Two outputs, an input that is read again, other elements, and memory that the kernel reads too.
// CHECK-LABEL: gir.kernel @two_stores
// CHECK-NOT: gir.home
// expected-remark @below {{@two_stores says nothing of caches}}
gir.kernel @two_stores(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out,
    %z : !gir.view<dram, f32, [M, N]> out) dims(%M : [0, 4096], %N : [0, 4096]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  // expected-remark @below {{the row lives in scratch until it is stored: several rows are stored behind it}}
  %e = gir.unary "exp" %t : !gir.tile<l1, f32, [1, N]>
  %sum = gir.reduce "add" "cols" %e : !gir.tile<l1, f32, [1, N]>
  %b = gir.broadcast %sum like %e : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %r = gir.binary "div" %e, %b : !gir.tile<l1, f32, [1, N]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %r, %to : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
  %also = gir.slice %z[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %e, %also : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

// expected-remark @below {{@read_again says nothing of caches}}
gir.kernel @read_again(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 100], %N : [0, 100]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  // expected-remark @below {{the row lives in scratch until it is stored: what is stored is computed from more than it}}
  %h = gir.unary "tanh" %t : !gir.tile<l1, f32, [1, N]>
  %sum = gir.reduce "add" "cols" %h : !gir.tile<l1, f32, [1, N]>
  %b = gir.broadcast %sum like %h : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %s = gir.binary "mul" %h, %b : !gir.tile<l1, f32, [1, N]>
  %r = gir.binary "add" %s, %t : !gir.tile<l1, f32, [1, N]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %r, %to : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

// expected-remark @below {{@narrowed says nothing of caches}}
gir.kernel @narrowed(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f16, [M, N]> out)
    dims(%M : [0, 100], %N : [0, 100]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  // expected-remark @below {{the row lives in scratch until it is stored: what is stored has other elements, or several rows}}
  %h = gir.unary "tanh" %t : !gir.tile<l1, f32, [1, N]>
  %sum = gir.reduce "add" "cols" %h : !gir.tile<l1, f32, [1, N]>
  %b = gir.broadcast %sum like %h : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %s = gir.binary "mul" %h, %b : !gir.tile<l1, f32, [1, N]>
  %r = gir.cast "truncf" %s : !gir.tile<l1, f32, [1, N]> -> !gir.tile<l1, f16, [1, N]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f16, [M, N]> -> !gir.slice<dram, f16, [1, N]>
  gir.store %r, %to : !gir.tile<l1, f16, [1, N]>, !gir.slice<dram, f16, [1, N]>
}

// expected-remark @below {{@changed says nothing of caches}}
gir.kernel @changed(%y : !gir.view<dram, f32, [M, N]> inout)
    dims(%M : [0, 100], %N : [0, 100]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %at = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %at : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  // expected-remark @below {{the row lives in scratch until it is stored: it is not stored to an 'out' view of the kernel under its own dimensions}}
  %h = gir.unary "tanh" %t : !gir.tile<l1, f32, [1, N]>
  %sum = gir.reduce "add" "cols" %h : !gir.tile<l1, f32, [1, N]>
  %b = gir.broadcast %sum like %h : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %r = gir.binary "mul" %h, %b : !gir.tile<l1, f32, [1, N]>
  gir.store %r, %at : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

// What is cheap is computed again; what is said stays, and nothing is added to it.
// CHECK-LABEL: gir.kernel @cheap
// CHECK-NOT: gir.home
// CHECK: gir.kernel @said
// CHECK-COUNT-1: gir.home
// CHECK-NOT: gir.home
// expected-remark @below {{@cheap says nothing of caches}}
gir.kernel @cheap(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 100], %N : [0, 100]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %h = gir.unary "neg" %t : !gir.tile<l1, f32, [1, N]>
  %sum = gir.reduce "add" "cols" %h : !gir.tile<l1, f32, [1, N]>
  %b = gir.broadcast %sum like %h : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %r = gir.binary "mul" %h, %b : !gir.tile<l1, f32, [1, N]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %r, %to : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

// expected-remark @below {{@said says nothing of caches}}
gir.kernel @said(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 100], %N : [0, 100]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %n = gir.unary "neg" %t : !gir.tile<l1, f32, [1, N]>
  %g = gir.home %n, %to : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
  %h = gir.unary "exp" %g : !gir.tile<l1, f32, [1, N]>
  %sum = gir.reduce "add" "cols" %h : !gir.tile<l1, f32, [1, N]>
  %b = gir.broadcast %sum like %h : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %r = gir.binary "mul" %h, %b : !gir.tile<l1, f32, [1, N]>
  gir.store %r, %to : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}
