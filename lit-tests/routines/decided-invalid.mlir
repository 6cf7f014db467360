// Programs in which data decide sizes that cannot be planned or come too late.

// RUN: sutura-opt %s --split-input-file --convert-rt-to-llvm --verify-diagnostics

rt.program @early(%x : !rt.buffer<f32, [B]> in "x", %y : !rt.buffer<i64, [1, N]> out "y", %z : !rt.buffer<i64, [1, N]> out "z")
    symbols(B : [0, 8], N : [0, 8]) attributes {planned} {
  %s = alloc : !rt.buffer<i64, [1]>
  // expected-error @+1 {{uses the size N before what decides it}}
  copy %y, %z : !rt.buffer<i64, [1, N]>, !rt.buffer<i64, [1, N]>
  call "non_zero" version 1 ins(%x) outs(%y, %s) params(found [N]) : !rt.buffer<f32, [B]>, !rt.buffer<i64, [1, N]>, !rt.buffer<i64, [1]>
}

// -----

// expected-error @+1 {{cannot be planned before data decide its sizes: data decide a part of a size of input 'w'}}
rt.program @part(%x : !rt.buffer<f32, [B]> in "x", %w : !rt.buffer<f32, [M + N]> in "w", %y : !rt.buffer<i64, [1, N]> out "y")
    symbols(B : [0, 8], M : [0, 8], N : [0, 8]) attributes {planned} {
  %s = alloc : !rt.buffer<i64, [1]>
  call "non_zero" version 1 ins(%x) outs(%y, %s) params(found [N]) : !rt.buffer<f32, [B]>, !rt.buffer<i64, [1, N]>, !rt.buffer<i64, [1]>
}

// -----

// expected-error @+1 {{the dims of the inputs do not determine symbol 'M'}}
rt.program @open(%x : !rt.buffer<f32, [B]> in "x", %y : !rt.buffer<i64, [1, N]> out "y")
    symbols(B : [0, 8], M : [0, 8], N : [0, 8]) attributes {planned} {
  %s = alloc : !rt.buffer<i64, [1]>
  %t = alloc : !rt.buffer<i64, [M]>
  call "non_zero" version 1 ins(%x) outs(%y, %s) params(found [N]) : !rt.buffer<f32, [B]>, !rt.buffer<i64, [1, N]>, !rt.buffer<i64, [1]>
}

// -----

// expected-error @+1 {{output 'y' has the size N, which a condition or a loop decides}}
rt.program @main(%x : !rt.buffer<f32, [B]> in "x", %c : !rt.buffer<i1, []> in "c", %y : !rt.buffer<i64, [1, N]> out "y")
    symbols(B : [0, 64], N : [0, 64]) {
  %s = alloc : !rt.buffer<i64, [1]>
  if %c : !rt.buffer<i1, []> {
    call "non_zero" version 1 ins(%x) outs(%y, %s) params(found [N]) : !rt.buffer<f32, [B]>, !rt.buffer<i64, [1, N]>, !rt.buffer<i64, [1]>
  } else {
  }
}

// -----

// Behind the condition the size is not known, whichever way the program took.
rt.program @behind(%x : !rt.buffer<f32, [B]> in "x", %c : !rt.buffer<i1, []> in "c") symbols(B : [0, 64], N : [0, 64]) {
  %s = alloc : !rt.buffer<i64, [1]>
  %t = alloc : !rt.buffer<i64, [1, N]>
  %u = alloc : !rt.buffer<i64, [1, N]>
  if %c : !rt.buffer<i1, []> {
    call "non_zero" version 1 ins(%x) outs(%t, %s) params(found [N]) : !rt.buffer<f32, [B]>, !rt.buffer<i64, [1, N]>, !rt.buffer<i64, [1]>
  } else {
  }
  // expected-error @+1 {{uses the size N before what decides it}}
  copy %t, %u : !rt.buffer<i64, [1, N]>, !rt.buffer<i64, [1, N]>
}

// -----

// The same size on both sides: on the second one what the first one found is not there to be compared with.
// expected-error @+1 {{the size that the routine 'non_zero' finds depends on the size that the routine 'non_zero' finds, which may not be known there}}
rt.program @sides(%x : !rt.buffer<f32, [B]> in "x", %c : !rt.buffer<i1, []> in "c") symbols(B : [0, 64], N : [0, 64]) {
  %s = alloc : !rt.buffer<i64, [1]>
  %t = alloc : !rt.buffer<i64, [1, N]>
  if %c : !rt.buffer<i1, []> {
    call "non_zero" version 1 ins(%x) outs(%t, %s) params(found [N]) : !rt.buffer<f32, [B]>, !rt.buffer<i64, [1, N]>, !rt.buffer<i64, [1]>
  } else {
    call "non_zero" version 1 ins(%x) outs(%t, %s) params(found [N]) : !rt.buffer<f32, [B]>, !rt.buffer<i64, [1, N]>, !rt.buffer<i64, [1]>
  }
}

// -----

// What is stated holds of all runs.
// expected-error @+1 {{a check of the program is about the size that the routine 'non_zero' finds, in a condition or a loop}}
rt.program @stated(%x : !rt.buffer<f32, [B]> in "x", %c : !rt.buffer<i1, []> in "c") symbols(B : [0, 64], N : [0, 64])
    attributes {checks = [{kind = "at_least", left = #dyn.shape<[N]>, right = #dyn.shape<[1]>}]} {
  %s = alloc : !rt.buffer<i64, [1]>
  %t = alloc : !rt.buffer<i64, [1, N]>
  if %c : !rt.buffer<i1, []> {
    call "non_zero" version 1 ins(%x) outs(%t, %s) params(found [N]) : !rt.buffer<f32, [B]>, !rt.buffer<i64, [1, N]>, !rt.buffer<i64, [1]>
  } else {
  }
}

// -----

// Memory of a size that is made of two that are never known together.
rt.program @apart(%x : !rt.buffer<f32, [B]> in "x", %c : !rt.buffer<i1, []> in "c")
    symbols(B : [0, 64], K : [0, 64], N : [0, 64]) {
  %s = alloc : !rt.buffer<i64, [1]>
  %t = alloc : !rt.buffer<i64, [1, K]>
  %u = alloc : !rt.buffer<i64, [1, N]>
  // expected-error @+1 {{uses the size K + N before what decides it}}
  %v = alloc : !rt.buffer<i64, [N + K]>
  if %c : !rt.buffer<i1, []> {
    call "non_zero" version 1 ins(%x) outs(%t, %s) params(found [K]) : !rt.buffer<f32, [B]>, !rt.buffer<i64, [1, K]>, !rt.buffer<i64, [1]>
  } else {
    call "non_zero" version 1 ins(%x) outs(%u, %s) params(found [N]) : !rt.buffer<f32, [B]>, !rt.buffer<i64, [1, N]>, !rt.buffer<i64, [1]>
  }
}
