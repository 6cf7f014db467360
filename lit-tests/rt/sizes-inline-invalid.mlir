// RUN: sutura-opt %s --inline-programs --split-input-file --verify-diagnostics

rt.program @inner(%x : !rt.buffer<f32, [N]> in "x", %y : !rt.buffer<f32, [N]> out "y") symbols(N : [0, 64]) attributes {private} {
  copy %x, %y : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
}

rt.program @main(%x : !rt.buffer<f32, [N]> in "x", %y : !rt.buffer<f32, [N]> out "y") symbols(N : [0, 64]) {
  // expected-error @below {{decides the size N, which is known before}}
  invoke @inner ins(%x) outs(%y) {most = #dyn.shape<[2*N]>} : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
}
