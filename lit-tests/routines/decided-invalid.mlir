// Programs in which data decide sizes that cannot be planned or come too late.

// RUN: sutura-opt %s --split-input-file --convert-rt-to-llvm --verify-diagnostics

rt.program @early(%x : !rt.buffer<f32, [B]> in "x", %y : !rt.buffer<i64, [1, N]> out "y", %z : !rt.buffer<i64, [1, N]> out "z")
    symbols(B : [0, 8], N : [0, 8]) attributes {planned} {
  %s = alloc : !rt.buffer<i64, [1]>
  // expected-error @+1 {{uses the size N before the call of a routine that decides it}}
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

rt.program @main(%x : !rt.buffer<f32, [B]> in "x", %c : !rt.buffer<i1, []> in "c", %y : !rt.buffer<i64, [1, N]> out "y")
    symbols(B : [0, 64], N : [0, 64]) {
  %s = alloc : !rt.buffer<i64, [1]>
  if %c : !rt.buffer<i1, []> {
    // expected-error @below {{decides sizes in a condition or a loop, where it may do so never or several times}}
    call "non_zero" version 1 ins(%x) outs(%y, %s) params(found [N]) : !rt.buffer<f32, [B]>, !rt.buffer<i64, [1, N]>, !rt.buffer<i64, [1]>
  } else {
  }
}
