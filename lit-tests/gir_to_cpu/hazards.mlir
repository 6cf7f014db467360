// Tiles in a cache are read when they are needed: memory that has changed by then would be read wrongly.
// RUN: sutura-opt %s --split-input-file --verify-diagnostics --convert-gir-to-cpu
// RUN: sutura-opt %s --split-input-file --verify-diagnostics --convert-gir-to-gpu

// A row is written one place further on, and read after that as it was.
// expected-note@+1 {{in kernel @shifted}}
gir.kernel @shifted(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 100], %N : [1, 1024]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %b = gir.alloc owner("unit") : !gir.view<l1, f32, [1, 1025]>
  %in = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %in : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %b0 = gir.slice %b[%zero, %zero] cols(1) : !gir.view<l1, f32, [1, 1025]> -> !gir.slice<l1, f32, [1, N]>
  gir.store %t, %b0 : !gir.tile<l1, f32, [1, N]>, !gir.slice<l1, f32, [1, N]>
  %u = gir.load %b0 : !gir.slice<l1, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %e = gir.unary "exp" %u : !gir.tile<l1, f32, [1, N]>
  %b1 = gir.slice %b[%zero, %one] cols(1) : !gir.view<l1, f32, [1, 1025]> -> !gir.slice<l1, f32, [1, N]>
  gir.store %e, %b1 : !gir.tile<l1, f32, [1, N]>, !gir.slice<l1, f32, [1, N]>
  // expected-error@+1 {{needs a tile of memory of which another part is written at the same time; store the tile to an allocation of its own first}}
  %v = gir.load %b1 : !gir.slice<l1, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %out = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %v, %out : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

// -----

// What is loaded first is stored last.
// expected-error@+2 {{needs a tile of memory that was written after the tile was loaded; store the tile to an allocation of its own first}}
// expected-note@+1 {{in kernel @exchanged}}
gir.kernel @exchanged(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 100], %N : [1, 1024]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %b = gir.alloc owner("unit") : !gir.view<l1, f32, [1, 1024]>
  %in = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %in : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %b0 = gir.slice %b[%zero, %zero] cols(1) : !gir.view<l1, f32, [1, 1024]> -> !gir.slice<l1, f32, [1, N]>
  gir.store %t, %b0 : !gir.tile<l1, f32, [1, N]>, !gir.slice<l1, f32, [1, N]>
  %u = gir.load %b0 : !gir.slice<l1, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %n = gir.unary "neg" %u : !gir.tile<l1, f32, [1, N]>
  gir.store %n, %b0 : !gir.tile<l1, f32, [1, N]>, !gir.slice<l1, f32, [1, N]>
  %v = gir.load %b0 : !gir.slice<l1, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %s = gir.binary "sub" %u, %v : !gir.tile<l1, f32, [1, N]>
  %out = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %s, %out : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

// -----

// The same where nothing stands behind the store.
// expected-error@+2 {{needs a tile of memory of which another part is written at the same time; store the tile to an allocation of its own first}}
// expected-note@+1 {{in kernel @shifted_at_the_end}}
gir.kernel @shifted_at_the_end(%y : !gir.view<dram, f32, [M, 65]> inout) dims(%M : [0, 100]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %from = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 65]> -> !gir.slice<dram, f32, [1, 64]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  %r = gir.unary "neg" %t : !gir.tile<l1, f32, [1, 64]>
  %to = gir.slice %y[%i, %one] cols(1) : !gir.view<dram, f32, [M, 65]> -> !gir.slice<dram, f32, [1, 64]>
  gir.store %r, %to : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}
