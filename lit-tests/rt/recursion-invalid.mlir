// RUN: sutura-opt %s --inline-programs --plan-buffers --convert-rt-to-llvm --split-input-file --verify-diagnostics

// What a call that stays gets for its results must be as large as the function makes them.
// expected-note @below {{the program}}
rt.program @f(%c : !rt.buffer<i1, []> in "c", %x : !rt.buffer<f32, [N]> in "x", %w : !rt.buffer<f32, [M]> in "w", %y : !rt.buffer<f32, [N]> out "y")
    symbols(N : [0, 64], M : [0, 64]) {
  if %c : !rt.buffer<i1, []> {
    // expected-error @below {{gives a !rt.buffer<f32, [N]> to '@f' for output 'y', and nothing guarantees that this is its !rt.buffer<f32, [N]>}}
    invoke @f ins(%c, %w, %x) outs(%y) : !rt.buffer<i1, []>, !rt.buffer<f32, [M]>, !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  } else {
    copy %x, %y : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  }
}

// -----

// A device is told what to launch by the host, which does not call functions for it.
gpu.module @kernels {
}
rt.program @f(%c : !rt.buffer<i1, []> in "c", %x : !rt.buffer<f32, [N]> in "x", %y : !rt.buffer<f32, [N]> out "y") symbols(N : [0, 64]) {
  if %c : !rt.buffer<i1, []> {
    // expected-error @below {{calls the recursive function '@f', which programs for devices do not}}
    invoke @f ins(%c, %x) outs(%y) : !rt.buffer<i1, []>, !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  } else {
    copy %x, %y : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  }
}
