// A tile that lives in a slice of an output until it is stored there: read, written, and checked.

// RUN: sutura-opt %s --split-input-file --verify-diagnostics | FileCheck %s
// RUN: sutura-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

// CHECK-LABEL: gir.kernel @lives
// CHECK: %[[H:.*]] = gir.home %{{.*}}, %[[TO:.*]] : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
// CHECK: gir.binary "mul" %[[H]],
// CHECK: gir.store %{{.*}}, %[[TO]] kept :
// GENERIC: "gir.home"({{.*}}) : (!gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>) -> !gir.tile<l1, f32, [1, N]>
// GENERIC: "gir.store"({{.*}}) <{kept}>
gir.kernel @lives(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 100], %N : [0, 100]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %e = gir.unary "exp" %t : !gir.tile<l1, f32, [1, N]>
  %h = gir.home %e, %to : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
  %sum = gir.reduce "add" "cols" %h : !gir.tile<l1, f32, [1, N]>
  %b = gir.broadcast %sum like %h : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %r = gir.binary "mul" %h, %b : !gir.tile<l1, f32, [1, N]>
  gir.store %r, %to kept : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

// -----

// A view of an output under other dimensions is one; a sum of what was kept may come after the store.
// CHECK-LABEL: gir.kernel @identity
// CHECK: gir.home
gir.kernel @identity(%x : !gir.view<dram, f32, [8, 64]> in, %y : !gir.view<dram, f32, [512]> out, %z : !gir.view<dram, f32, [8, 1]> out) dims() grid(%i = 8) units(1) {
  %zero = arith.constant 0 : index
  %rows = gir.identity %y : !gir.view<dram, f32, [512]> -> !gir.view<dram, f32, [8, 64]>
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [8, 64]> -> !gir.slice<dram, f32, [1, 64]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  %to = gir.slice %rows[%i, %zero] cols(1) : !gir.view<dram, f32, [8, 64]> -> !gir.slice<dram, f32, [1, 64]>
  %h = gir.home %t, %to : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
  %sum = gir.reduce "add" "cols" %h : !gir.tile<l1, f32, [1, 64]>
  gir.store %h, %to : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
  %at = gir.slice %z[%i, %zero] cols(1) : !gir.view<dram, f32, [8, 1]> -> !gir.slice<dram, f32, [1, 1]>
  gir.store %sum, %at : !gir.tile<l1, f32, [1, 1]>, !gir.slice<dram, f32, [1, 1]>
}

// -----

gir.kernel @input(%x : !gir.view<dram, f32, [8, 64]> in, %y : !gir.view<dram, f32, [8, 64]> inout) dims() grid(%i = 8) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [8, 64]> -> !gir.slice<dram, f32, [1, 64]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  // expected-error @below {{'gir.home' op makes a tile live in %x, which is no 'out' view of the kernel}}
  %h = gir.home %t, %from : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [8, 64]> -> !gir.slice<dram, f32, [1, 64]>
  // expected-error @below {{'gir.home' op makes a tile live in %y, which is no 'out' view of the kernel}}
  %g = gir.home %h, %to : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
  gir.store %g, %to : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}

// -----

// The columns of a transposed view.
gir.kernel @apart(%x : !gir.view<dram, f32, [8, 32]> in, %y : !gir.view<dram, f32, [32, 8]> out) dims() grid(%i = 8) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [8, 32]> -> !gir.slice<dram, f32, [1, 32]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 32]> -> !gir.tile<l1, f32, [1, 32]>
  %to = gir.slice %y[%zero, %i] cols(0) : !gir.view<dram, f32, [32, 8]> -> !gir.slice<dram, f32, [1, 32]>
  // expected-error @below {{'gir.home' op makes a tile live in %y, where the slice's columns do not lie side by side}}
  %h = gir.home %t, %to : !gir.tile<l1, f32, [1, 32]>, !gir.slice<dram, f32, [1, 32]>
  gir.store %h, %to : !gir.tile<l1, f32, [1, 32]>, !gir.slice<dram, f32, [1, 32]>
}

// -----

gir.kernel @truth(%x : !gir.view<dram, i1, [8, 64]> in, %y : !gir.view<dram, i1, [8, 64]> out) dims() grid(%i = 8) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, i1, [8, 64]> -> !gir.slice<dram, i1, [1, 64]>
  %t = gir.load %from : !gir.slice<dram, i1, [1, 64]> -> !gir.tile<l1, i1, [1, 64]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, i1, [8, 64]> -> !gir.slice<dram, i1, [1, 64]>
  // expected-error @below {{'gir.home' op makes a tile live in %y, whose truth values are widened when they are stored}}
  %h = gir.home %t, %to : !gir.tile<l1, i1, [1, 64]>, !gir.slice<dram, i1, [1, 64]>
  gir.store %h, %to : !gir.tile<l1, i1, [1, 64]>, !gir.slice<dram, i1, [1, 64]>
}

// -----

gir.kernel @other(%x : !gir.view<dram, f32, [8, 64]> in, %y : !gir.view<dram, f16, [8, 64]> out) dims() grid(%i = 8) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [8, 64]> -> !gir.slice<dram, f32, [1, 64]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f16, [8, 64]> -> !gir.slice<dram, f16, [1, 64]>
  // expected-error @below {{'gir.home' op slice and tile must agree in element type and extents}}
  %h = gir.home %t, %to : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f16, [1, 64]>
  %n = gir.cast "truncf" %h : !gir.tile<l1, f32, [1, 64]> -> !gir.tile<l1, f16, [1, 64]>
  gir.store %n, %to : !gir.tile<l1, f16, [1, 64]>, !gir.slice<dram, f16, [1, 64]>
}

// -----

// The store stands in front, and in a loop behind.
gir.kernel @never(%x : !gir.view<dram, f32, [8, 64]> in, %y : !gir.view<dram, f32, [8, 64]> out, %z : !gir.view<dram, f32, [8, 64]> out) dims() grid(%i = 8) units(1) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [8, 64]> -> !gir.slice<dram, f32, [1, 64]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [8, 64]> -> !gir.slice<dram, f32, [1, 64]>
  gir.store %t, %to : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
  // expected-error @below {{'gir.home' op makes a tile live in a slice of %y to which no store of the block follows}}
  %h = gir.home %t, %to : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
  %zs = gir.slice %z[%i, %zero] cols(1) : !gir.view<dram, f32, [8, 64]> -> !gir.slice<dram, f32, [1, 64]>
  // expected-error @below {{'gir.home' op makes a tile live in %z, which 'gir.for' touches before it is stored there}}
  %g = gir.home %h, %zs : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
  gir.for %k = %zero to %one {
    gir.store %g, %zs : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
  }
}

// -----

// Two tiles in one place; and a tile that is needed when another one has taken its place.
gir.kernel @twice(%x : !gir.view<dram, f32, [8, 64]> in, %y : !gir.view<dram, f32, [8, 64]> out, %z : !gir.view<dram, f32, [8, 64]> out) dims() grid(%i = 8) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [8, 64]> -> !gir.slice<dram, f32, [1, 64]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [8, 64]> -> !gir.slice<dram, f32, [1, 64]>
  // expected-error @below {{'gir.home' op makes a tile live in %y, which 'gir.home' touches before it is stored there}}
  %h = gir.home %t, %to : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
  // expected-error @below {{'gir.home' op makes a tile live in %y, and 'gir.store' needs it when another one is stored there}}
  %g = gir.home %h, %to : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
  %n = gir.unary "neg" %g : !gir.tile<l1, f32, [1, 64]>
  gir.store %t, %to : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
  %zs = gir.slice %z[%i, %zero] cols(1) : !gir.view<dram, f32, [8, 64]> -> !gir.slice<dram, f32, [1, 64]>
  gir.store %n, %zs : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}

// -----

gir.kernel @both(%x : !gir.view<dram, f32, [8, 64]> in, %y : !gir.view<dram, f32, [8, 64]> out) dims() grid(%i = 8) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [8, 64]> -> !gir.slice<dram, f32, [1, 64]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [8, 64]> -> !gir.slice<dram, f32, [1, 64]>
  // expected-error @below {{'gir.store' op says 'kept' and 'stream': it stays in the caches, or goes past them}}
  gir.store %t, %to stream kept : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}
