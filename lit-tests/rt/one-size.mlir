// A kernel for one size: its buffers may be written with the number where the program has a formula that is it at that size.
// RUN: sutura-opt %s --split-input-file --verify-diagnostics

gir.kernel @few(%x : !gir.view<dram, f32, [B]> in, %y : !gir.view<dram, f32, [1]> out) dims(%B : [17, 17]) grid() units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%zero] : !gir.view<dram, f32, [B]> -> !gir.slice<dram, f32, [1, 1]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 1]> -> !gir.tile<vec, f32, [1, 1]>
  %to = gir.slice %y[%zero] : !gir.view<dram, f32, [1]> -> !gir.slice<dram, f32, [1, 1]>
  gir.store %t, %to : !gir.tile<vec, f32, [1, 1]>, !gir.slice<dram, f32, [1, 1]>
}

gir.kernel @any(%y : !gir.view<dram, f32, [L]> out) dims(%L : [0, 1]) grid() units(1) {
  %zero = arith.constant 0 : index
  %to = gir.slice %y[%zero] cols(0) : !gir.view<dram, f32, [L]> -> !gir.slice<dram, f32, [1, L]>
  %t = gir.fill 0.0 : f32 : !gir.tile<l1, f32, [1, L]>
  gir.store %t, %to : !gir.tile<l1, f32, [1, L]>, !gir.slice<dram, f32, [1, L]>
}

rt.program @main(%x : !rt.buffer<f32, [B]> in "x", %y : !rt.buffer<f32, [min(B, 1)]> out "y") symbols(B : [0, 100]) {
  select if [B - 17, 17 - B] {
    launch @few(%x, %y) dims [B] : !rt.buffer<f32, [B]>, !rt.buffer<f32, [min(B, 1)]>
  }, {
    launch @any(%y) dims [min(B, 1)] : !rt.buffer<f32, [min(B, 1)]>
  }
}

// -----

// expected-note@+1 {{the kernel}}
gir.kernel @few(%x : !gir.view<dram, f32, [B]> in, %y : !gir.view<dram, f32, [1]> out) dims(%B : [0, 17]) grid() units(1) {
  %zero = arith.constant 0 : index
  %t = gir.fill 0.0 : f32 : !gir.tile<vec, f32, [1, 1]>
  %to = gir.slice %y[%zero] : !gir.view<dram, f32, [1]> -> !gir.slice<dram, f32, [1, 1]>
  gir.store %t, %to : !gir.tile<vec, f32, [1, 1]>, !gir.slice<dram, f32, [1, 1]>
}

rt.program @main(%x : !rt.buffer<f32, [B]> in "x", %y : !rt.buffer<f32, [min(B, 1)]> out "y") symbols(B : [0, 17]) {
  // expected-error@+1 {{argument 1 is a !rt.buffer<f32, [min(B, 1)]> where the kernel takes a !rt.buffer<f32, [1]>}}
  launch @few(%x, %y) dims [B] : !rt.buffer<f32, [B]>, !rt.buffer<f32, [min(B, 1)]>
}
