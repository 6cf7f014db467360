// RUN: sutura-opt %s --split-input-file --verify-diagnostics

rt.program @main(%x : !rt.buffer<f32, [N]> in "x", %y : !rt.buffer<f32, [N]> out "y") symbols(N : [0, 64]) {
  %a = alloc : !rt.buffer<f32, [N]>
  copy %x, %a : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  copy %x, %y : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  // expected-error @below {{only temporaries, made by 'rt.alloc', can change their memory}}
  exchange %a, %y : !rt.buffer<f32, [N]>
}

// -----

rt.program @main(%x : !rt.buffer<f32, [N]> in "x") symbols(N : [0, 64]) {
  %a = alloc : !rt.buffer<f32, [N]>
  %b = alloc : !rt.buffer<f32, [N]>
  copy %x, %a : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  // expected-error @below {{reads a buffer before anything is written to it: it changes its memory}}
  exchange %a, %b : !rt.buffer<f32, [N]>
}

// -----

rt.program @main(%x : !rt.buffer<f32, [N]> in "x") symbols(N : [0, 64]) {
  %a = alloc : !rt.buffer<f32, [N]>
  copy %x, %a : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  // expected-error @below {{exchanges a buffer with itself}}
  exchange %a, %a : !rt.buffer<f32, [N]>
}

// -----

// Of %a and %c only one is in use at a time, but %a has what %b had while %c is in use.
rt.program @main(%x : !rt.buffer<f32, [N]> in "x", %y : !rt.buffer<f32, [N]> out "y") symbols(N : [0, 64]) attributes {planned} {
  // expected-note @below {{the other buffer}}
  %a = alloc : !rt.buffer<f32, [N]>
  %b = alloc after(%a : !rt.buffer<f32, [N]>) : !rt.buffer<f32, [N]>
  // expected-error @below {{is in use together with a buffer that it neither follows nor precedes}}
  %c = alloc : !rt.buffer<f32, [N]>
  copy %x, %a : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  copy %x, %b : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  exchange %a, %b : !rt.buffer<f32, [N]>
  copy %x, %c : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  copy %c, %y : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  copy %b, %y : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
}
