// What loads and stores say of the caches: read, written, and checked.

// RUN: sutura-opt %s --split-input-file --verify-diagnostics | FileCheck %s
// RUN: sutura-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

// CHECK-LABEL: gir.kernel @said
// CHECK: gir.load %{{.*}} prefetch(4096) :
// CHECK: gir.load %{{.*}} prefetch(next) :
// CHECK: gir.load %{{.*}} pad(0.000000e+00 : f32) prefetch(64, next when(-N + 1024, M - 1)) :
// CHECK: gir.store %{{.*}}, %{{.*}} stream when(8*M*N - 1048576) defer :
// CHECK: gir.store %{{.*}}, %{{.*}} stream when(M - 1, -N + 4096) :
// CHECK: gir.store %{{.*}}, %{{.*}} stream defer :
// GENERIC: "gir.load"({{.*}}) <{prefetch = 4096 : i64}>
// GENERIC: "gir.load"({{.*}}) <{next = #dyn.shape<[]>}>
// GENERIC: "gir.store"({{.*}}) <{defer, stream = #dyn.shape<[8*M*N - 1048576]>}>
gir.kernel @said(%x : !gir.view<dram, f32, [M, N]> in, %a : !gir.view<dram, f32, [M, N]> out,
    %b : !gir.view<dram, f32, [M, N]> out, %c : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 4096], %N : [0, 4096]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %from prefetch(4096) : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %u = gir.load %from prefetch(next) : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %v = gir.load %from pad(0.0 : f32) prefetch(64, next when(1024 - N, M - 1)) : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %as = gir.slice %a[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %t, %as stream when(8*M*N - 1048576) defer : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
  %bs = gir.slice %b[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %u, %bs stream when(M - 1, 4096 - N) : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
  %cs = gir.slice %c[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %v, %cs stream defer : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

// -----

// A view of an output under other dimensions is one.
// CHECK-LABEL: gir.kernel @identity
// CHECK: stream
gir.kernel @identity(%x : !gir.view<dram, f32, [8, 64]> in, %y : !gir.view<dram, f32, [512]> out) dims() grid(%i = 8) units(1) {
  %zero = arith.constant 0 : index
  %rows = gir.identity %y : !gir.view<dram, f32, [512]> -> !gir.view<dram, f32, [8, 64]>
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [8, 64]> -> !gir.slice<dram, f32, [1, 64]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  %to = gir.slice %rows[%i, %zero] cols(1) : !gir.view<dram, f32, [8, 64]> -> !gir.slice<dram, f32, [1, 64]>
  gir.store %t, %to stream : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}

// -----

gir.kernel @changed(%y : !gir.view<dram, f32, [M, 64]> inout) dims(%M : [0, 4096]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %at = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  // expected-error @below {{'gir.load' op asks ahead in %y, which is no 'in' view of the kernel}}
  %t = gir.load %at prefetch(4096) : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  // expected-error @below {{'gir.store' op goes past the caches into %y, which is no 'out' view of the kernel}}
  gir.store %t, %at stream when(M - 1) : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}

// -----

gir.kernel @own(%x : !gir.view<dram, f32, [8, 64]> in) dims() grid(%i = 8) units(1) {
  %zero = arith.constant 0 : index
  %near = gir.alloc owner("unit") : !gir.view<l1, f32, [1, 64]>
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [8, 64]> -> !gir.slice<dram, f32, [1, 64]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<vec, f32, [1, 64]>
  %to = gir.slice %near[%zero, %zero] cols(1) : !gir.view<l1, f32, [1, 64]> -> !gir.slice<l1, f32, [1, 64]>
  // expected-error @below {{'gir.store' op goes past the caches into %near, which is no 'out' view of the kernel}}
  gir.store %t, %to stream : !gir.tile<vec, f32, [1, 64]>, !gir.slice<l1, f32, [1, 64]>
}

// -----

// Every second column, the columns of a transposed view, and no columns at all.
gir.kernel @apart(%x : !gir.view<dram, f32, [8, 32]> in, %y : !gir.view<dram, f32, [32, 8]> out) dims() grid(%i = 8) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [8, 32]> -> !gir.slice<dram, f32, [1, 32]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 32]> -> !gir.tile<l1, f32, [1, 32]>
  %to = gir.slice %y[%zero, %i] cols(0) : !gir.view<dram, f32, [32, 8]> -> !gir.slice<dram, f32, [1, 32]>
  // expected-error @below {{'gir.store' op goes past the caches into %y, where the slice's columns do not lie side by side}}
  gir.store %t, %to stream : !gir.tile<l1, f32, [1, 32]>, !gir.slice<dram, f32, [1, 32]>
}

// -----

gir.kernel @truth(%x : !gir.view<dram, i1, [8, 64]> in, %y : !gir.view<dram, i1, [8, 64]> out) dims() grid(%i = 8) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, i1, [8, 64]> -> !gir.slice<dram, i1, [1, 64]>
  %t = gir.load %from : !gir.slice<dram, i1, [1, 64]> -> !gir.tile<l1, i1, [1, 64]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, i1, [8, 64]> -> !gir.slice<dram, i1, [1, 64]>
  // expected-error @below {{'gir.store' op goes past the caches into %y, whose truth values are widened when they are stored}}
  gir.store %t, %to stream : !gir.tile<l1, i1, [1, 64]>, !gir.slice<dram, i1, [1, 64]>
}

// -----

gir.kernel @sizes(%x : !gir.view<dram, f32, [M, 64]> in, %y : !gir.view<dram, f32, [M, 64]> out) dims(%M : [0, 8]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  // expected-error @below {{'gir.load' op uses the size -K + 8, but 'K' is no dim of the kernel}}
  %t = gir.load %from prefetch(next when(8 - K)) : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  // expected-error @below {{'gir.load' op asks for what lies 0 bytes ahead: at least 1}}
  %u = gir.load %from prefetch(0) : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  %s = gir.binary "add" %t, %u : !gir.tile<l1, f32, [1, 64]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  // expected-error @below {{'gir.store' op uses the size N, but 'N' is no dim of the kernel}}
  gir.store %s, %to stream when(M, N) : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}

// -----

gir.kernel @alone(%x : !gir.view<dram, f32, [8, 64]> in, %y : !gir.view<dram, f32, [8, 64]> out) dims() grid(%i = 8) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [8, 64]> -> !gir.slice<dram, f32, [1, 64]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [8, 64]> -> !gir.slice<dram, f32, [1, 64]>
  // expected-error @below {{'gir.store' op says 'defer' without 'stream': only what goes past the caches can wait}}
  gir.store %t, %to defer : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}

// -----

gir.kernel @unwritten(%x : !gir.view<dram, f32, [8, 64]> in) dims() grid(%i = 8) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [8, 64]> -> !gir.slice<dram, f32, [1, 64]>
  // expected-error @below {{expected}}
  %t = gir.load %from prefetch() : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
}
