// Routines of the host have nothing to work on where all buffers are memory of a device.

// RUN: sutura-opt %s --attach-target=name=sm_80 --convert-gir-to-gpu --verify-diagnostics

rt.program @main(%x : !rt.buffer<f32, [B]> in "x", %y : !rt.buffer<f32, [B]> out "y") symbols(B : [0, 64]) {
  %w = alloc : !rt.buffer<i8, [48*B]>
  // expected-error @+1 {{calls the routine 'sort' of the runtime, which works on memory of the host only}}
  call "sort" version 1 ins(%x) outs(%y) scratch(%w) params(axis [0], descending [0]) : !rt.buffer<f32, [B]>, !rt.buffer<f32, [B]>, !rt.buffer<i8, [48*B]>
}
