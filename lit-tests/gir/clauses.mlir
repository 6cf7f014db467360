// Threads of units, and trips that code has side by side, as text; and what they may not be.
// RUN: sutura-opt %s --split-input-file --verify-diagnostics --verify-roundtrip | FileCheck %s

// CHECK: gir.kernel @said
// CHECK-SAME: units(1) threads(256) {
// CHECK: gir.for %{{.*}} = %{{.*}} to %{{.*}} unroll(4) carry(
// CHECK: gir.for %{{.*}} = %{{.*}} to %{{.*}} unroll(64) {
gir.kernel @said(%x : !gir.view<dram, f32, [M, N, 16]> in, %y : !gir.view<dram, f32, [M, 16]> out) dims(%M : [0, 4096], %N : [0, 4096]) grid(%i = M) units(1) threads(256) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %init = gir.fill 0.0 : f32 : !gir.tile<vec, f32, [1, 16]>
  %sum = gir.for %k = %zero to %N unroll(4) carry(%acc = %init) : !gir.tile<vec, f32, [1, 16]> {
    %from = gir.slice %x[%i, %k, %zero] cols(2) : !gir.view<dram, f32, [M, N, 16]> -> !gir.slice<dram, f32, [1, 16]>
    %t = gir.load %from : !gir.slice<dram, f32, [1, 16]> -> !gir.tile<vec, f32, [1, 16]>
    %next = gir.binary "add" %acc, %t : !gir.tile<vec, f32, [1, 16]>
    gir.yield %next : !gir.tile<vec, f32, [1, 16]>
  }
  gir.for %j = %zero to %one unroll(64) {
    %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 16]> -> !gir.slice<dram, f32, [1, 16]>
    gir.store %sum, %to : !gir.tile<vec, f32, [1, 16]>, !gir.slice<dram, f32, [1, 16]>
  }
}

// -----

// expected-error @below {{has units of 48 threads; it must be a power of two, 1024 at most}}
gir.kernel @odd() dims() grid(%i = 1) units(1) threads(48) {
}

// -----

// expected-error @below {{has units of 0 threads; it must be a power of two, 1024 at most}}
gir.kernel @none() dims() grid(%i = 1) units(1) threads(0) {
}

// -----

// expected-error @below {{has units of 2048 threads; it must be a power of two, 1024 at most}}
gir.kernel @many() dims() grid(%i = 1) units(1) threads(2048) {
}

// -----

gir.kernel @one_trip(%y : !gir.view<dram, f32, [4]> out) dims() grid(%i = 1) units(1) {
  %zero = arith.constant 0 : index
  %four = arith.constant 4 : index
  // expected-error @below {{unrolls 1 trips: 2 to 64 are possible}}
  gir.for %k = %zero to %four unroll(1) {
  }
}

// -----

gir.kernel @word(%y : !gir.view<dram, f32, [4]> out) dims() grid(%i = 1) units(1) {
  %zero = arith.constant 0 : index
  %four = arith.constant 4 : index
  // expected-error @below {{expected '('}}
  gir.for %k = %zero to %four unroll 4 {
  }
}
