// A right factor may have several places of the sum side by side in each column.

// RUN: sutura-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: gir.kernel @pairs
// CHECK: gir.contract %{{.*}}, %{{.*}}, %{{.*}} {interleave = 2 : i64} : !gir.tile<vec, bf16, [4, 6]>, !gir.tile<vec, bf16, [3, 16]>, !gir.tile<vec, f32, [4, 8]>
gir.kernel @pairs(%x : !gir.view<dram, bf16, [4, 6]> in, %w : !gir.view<dram, bf16, [3, 16]> in, %y : !gir.view<dram, f32, [4, 8]> out)
    dims() grid(%i = 1) units(1) {
  %zero = arith.constant 0 : index
  %c = gir.fill 0.0 : f32 : !gir.tile<vec, f32, [4, 8]>
  %as = gir.slice %x[%zero, %zero] rows(0) cols(1) : !gir.view<dram, bf16, [4, 6]> -> !gir.slice<dram, bf16, [4, 6]>
  %a = gir.load %as : !gir.slice<dram, bf16, [4, 6]> -> !gir.tile<vec, bf16, [4, 6]>
  %bs = gir.slice %w[%zero, %zero] rows(0) cols(1) : !gir.view<dram, bf16, [3, 16]> -> !gir.slice<dram, bf16, [3, 16]>
  %b = gir.load %bs : !gir.slice<dram, bf16, [3, 16]> -> !gir.tile<vec, bf16, [3, 16]>
  %r = gir.contract %a, %b, %c {interleave = 2} : !gir.tile<vec, bf16, [4, 6]>, !gir.tile<vec, bf16, [3, 16]>, !gir.tile<vec, f32, [4, 8]>
  %out = gir.slice %y[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [4, 8]> -> !gir.slice<dram, f32, [4, 8]>
  gir.store %r, %out : !gir.tile<vec, f32, [4, 8]>, !gir.slice<dram, f32, [4, 8]>
}

// -----

gir.kernel @no_places(%y : !gir.view<dram, f32, [4, 8]> out) dims() grid(%i = 1) units(1) {
  %c = gir.fill 0.0 : f32 : !gir.tile<vec, f32, [4, 8]>
  %a = gir.fill 0.0 : f32 : !gir.tile<vec, f32, [4, 6]>
  %b = gir.fill 0.0 : f32 : !gir.tile<vec, f32, [3, 16]>
  // expected-error @+1 {{'interleave' is the number of places side by side, not 0}}
  %r = gir.contract %a, %b, %c {interleave = 0} : !gir.tile<vec, f32, [4, 6]>, !gir.tile<vec, f32, [3, 16]>, !gir.tile<vec, f32, [4, 8]>
}

// -----

gir.kernel @other_extents(%y : !gir.view<dram, f32, [4, 8]> out) dims() grid(%i = 1) units(1) {
  %c = gir.fill 0.0 : f32 : !gir.tile<vec, f32, [4, 8]>
  %a = gir.fill 0.0 : f32 : !gir.tile<vec, f32, [4, 6]>
  %b = gir.fill 0.0 : f32 : !gir.tile<vec, f32, [6, 8]>
  // expected-error @+1 {{[4, 6] times [6, 8], 2 places side by side, does not give [4, 8]}}
  %r = gir.contract %a, %b, %c {interleave = 2} : !gir.tile<vec, f32, [4, 6]>, !gir.tile<vec, f32, [6, 8]>, !gir.tile<vec, f32, [4, 8]>
}

// -----

// Which places of a column do not exist, a window cannot say.
gir.kernel @partial(%x : !gir.view<dram, f32, [4, 6]> in, %w : !gir.view<dram, f32, [N, 16]> in, %y : !gir.view<dram, f32, [4, 8]> out)
    dims(%N : [1, 64]) grid(%i = 1) units(1) {
  %zero = arith.constant 0 : index
  %c = gir.fill 0.0 : f32 : !gir.tile<vec, f32, [4, 8]>
  %as = gir.slice %x[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [4, 6]> -> !gir.slice<dram, f32, [4, 6]>
  %a = gir.load %as : !gir.slice<dram, f32, [4, 6]> -> !gir.tile<vec, f32, [4, 6]>
  %bs = gir.slice %w[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [N, 16]> -> !gir.slice<dram, f32, [3, 16]>
  %b = gir.load %bs : !gir.slice<dram, f32, [3, 16]> -> !gir.tile<vec, f32, [3, 16]>
  // expected-error @+1 {{takes a right factor with places side by side that is not proven whole}}
  %r = gir.contract %a, %b, %c {interleave = 2} : !gir.tile<vec, f32, [4, 6]>, !gir.tile<vec, f32, [3, 16]>, !gir.tile<vec, f32, [4, 8]>
  %out = gir.slice %y[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [4, 8]> -> !gir.slice<dram, f32, [4, 8]>
  gir.store %r, %out : !gir.tile<vec, f32, [4, 8]>, !gir.slice<dram, f32, [4, 8]>
}
