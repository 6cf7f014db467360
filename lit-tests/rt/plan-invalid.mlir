// RUN: sutura-opt %s --plan-buffers --split-input-file --verify-diagnostics

rt.program @one(%x : !rt.buffer<f32, [4611686018427387904]> in "x", %y : !rt.buffer<f32, [4611686018427387904]> out "y") {
  // expected-error @below {{'rt.alloc' op has no sensible size at the likely values of the symbols}}
  %a = alloc : !rt.buffer<f32, [4611686018427387904]>
  copy %x, %a : !rt.buffer<f32, [4611686018427387904]>, !rt.buffer<f32, [4611686018427387904]>
  copy %a, %y : !rt.buffer<f32, [4611686018427387904]>, !rt.buffer<f32, [4611686018427387904]>
}
