// Fixed indices that may lie outside: nothing of the slice exists there.

// RUN: sutura-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: gir.kernel @padded
// CHECK: gir.slice %{{.*}}[%{{.*}}, %{{.*}}, %zero] cols(2) clips(0, 1)
gir.kernel @padded(%x : !gir.view<dram, f32, [H, W, 8]> in, %y : !gir.view<dram, f32, [H + 2, W + 2, 8]> out)
    dims(%H : [0, 100], %W : [0, 100]) grid(%h = H + 2, %w = W + 2) units(1) {
  %zero = arith.constant 0 : index
  %i = gir.index affine_map<(d0) -> (d0 - 1)>(%h)
  %j = gir.index affine_map<(d0) -> (d0 - 1)>(%w)
  %from = gir.slice %x[%i, %j, %zero] cols(2) clips(0, 1) : !gir.view<dram, f32, [H, W, 8]> -> !gir.slice<dram, f32, [1, 8]>
  %t = gir.load %from pad(0.0 : f32) : !gir.slice<dram, f32, [1, 8]> -> !gir.tile<l1, f32, [1, 8]>
  %to = gir.slice %y[%h, %w, %zero] cols(2) : !gir.view<dram, f32, [H + 2, W + 2, 8]> -> !gir.slice<dram, f32, [1, 8]>
  gir.store %t, %to : !gir.tile<l1, f32, [1, 8]>, !gir.slice<dram, f32, [1, 8]>
}

// -----

// CHECK-LABEL: gir.kernel @updated
gir.kernel @updated(%y : !gir.view<dram, f32, [8, 4]> inout) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %far = arith.constant 9 : index
  %t = gir.fill 1.0 : f32 : !gir.tile<l1, f32, [1, 4]>
  %to = gir.slice %y[%far, %zero] cols(1) clips(0) : !gir.view<dram, f32, [8, 4]> -> !gir.slice<dram, f32, [1, 4]>
  gir.store %t, %to : !gir.tile<l1, f32, [1, 4]>, !gir.slice<dram, f32, [1, 4]>
}

// -----

gir.kernel @no_number(%x : !gir.view<dram, f32, [8, 4]> in, %y : !gir.view<dram, f32, [1, 4]> out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %far = arith.constant 9 : index
  %from = gir.slice %x[%far, %zero] cols(1) clips(0) : !gir.view<dram, f32, [8, 4]> -> !gir.slice<dram, f32, [1, 4]>
  // expected-error @below {{'gir.load' op has no number for what does not exist, and its slice has clips}}
  %t = gir.load %from : !gir.slice<dram, f32, [1, 4]> -> !gir.tile<l1, f32, [1, 4]>
  %to = gir.slice %y[%zero, %zero] cols(1) : !gir.view<dram, f32, [1, 4]> -> !gir.slice<dram, f32, [1, 4]>
  gir.store %t, %to : !gir.tile<l1, f32, [1, 4]>, !gir.slice<dram, f32, [1, 4]>
}

// -----

gir.kernel @unwritten(%y : !gir.view<dram, f32, [8, 4]> out) dims() grid(%g = 9) units(1) {
  %zero = arith.constant 0 : index
  %t = gir.fill 1.0 : f32 : !gir.tile<l1, f32, [1, 4]>
  %to = gir.slice %y[%g, %zero] cols(1) clips(0) : !gir.view<dram, f32, [8, 4]> -> !gir.slice<dram, f32, [1, 4]>
  // expected-error @below {{'gir.store' op may leave %y as it was, since its slice has clips, and it is no 'inout' view}}
  gir.store %t, %to : !gir.tile<l1, f32, [1, 4]>, !gir.slice<dram, f32, [1, 4]>
}

// -----

gir.kernel @moving(%x : !gir.view<dram, f32, [8, 4]> in) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  // expected-error @below {{'gir.slice' op clips are fixed dimensions of the view's 2, ascending}}
  %from = gir.slice %x[%zero, %zero] cols(1) clips(1) : !gir.view<dram, f32, [8, 4]> -> !gir.slice<dram, f32, [1, 4]>
}

// -----

gir.kernel @twice(%x : !gir.view<dram, f32, [8, 4]> in) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  // expected-error @below {{clips are fixed dimensions of the view's 2, ascending}}
  %from = gir.slice %x[%zero, %zero] clips(1, 0) : !gir.view<dram, f32, [8, 4]> -> !gir.slice<dram, f32, [1, 1]>
}

// -----

// An index that is not among them lies inside.
gir.kernel @other(%x : !gir.view<dram, f32, [8, 4]> in) dims() grid() units(1) {
  %far = arith.constant 9 : index
  // expected-error @below {{'gir.slice' op has index 9 of dimension 1 of %x, which is not proven below its size 4}}
  %from = gir.slice %x[%far, %far] clips(0) : !gir.view<dram, f32, [8, 4]> -> !gir.slice<dram, f32, [1, 1]>
}
