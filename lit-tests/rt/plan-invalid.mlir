// RUN: sutura-opt %s --plan-buffers --split-input-file --verify-diagnostics

rt.program @one(%x : !rt.buffer<f32, [4611686018427387904]> in "x", %y : !rt.buffer<f32, [4611686018427387904]> out "y") {
  // expected-error @below {{'rt.alloc' op has no sensible size at the likely values of the symbols}}
  %a = alloc : !rt.buffer<f32, [4611686018427387904]>
  copy %x, %a : !rt.buffer<f32, [4611686018427387904]>, !rt.buffer<f32, [4611686018427387904]>
  copy %a, %y : !rt.buffer<f32, [4611686018427387904]>, !rt.buffer<f32, [4611686018427387904]>
}

// -----

rt.program @together(%x : !rt.buffer<i8, [S]> in "x", %y : !rt.buffer<i8, [S]> out "y") symbols(S : [0, 9000000000000000000] likely [6000000000000000000]) {
  %a = alloc : !rt.buffer<i8, [S]>
  // expected-error @below {{'rt.alloc' op with those before it takes more bytes than can be addressed at the likely values}}
  %b = alloc : !rt.buffer<i8, [S]>
  copy %x, %a : !rt.buffer<i8, [S]>, !rt.buffer<i8, [S]>
  copy %a, %b : !rt.buffer<i8, [S]>, !rt.buffer<i8, [S]>
  copy %b, %y : !rt.buffer<i8, [S]>, !rt.buffer<i8, [S]>
}
