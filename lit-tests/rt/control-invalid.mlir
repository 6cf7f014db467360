// RUN: sutura-opt %s --inline-programs --split-input-file --verify-diagnostics

rt.program @main(%c : !rt.buffer<i32, []> in "c") symbols() {
  // expected-error @below {{needs a '!rt.buffer<i1, []>' as condition, not a '!rt.buffer<i32, []>'}}
  if %c : !rt.buffer<i32, []> {
  } else {
  }
}

// -----

rt.program @main(%c : !rt.buffer<i1, []> in "c", %y : !rt.buffer<i1, []> out "y") symbols() {
  %t = alloc : !rt.buffer<i1, []>
  // expected-error @below {{reads a buffer before anything is written to it: it is the condition}}
  while %t : !rt.buffer<i1, []> {
  } do {
    copy %c, %t : !rt.buffer<i1, []>, !rt.buffer<i1, []>
    copy %c, %y : !rt.buffer<i1, []>, !rt.buffer<i1, []>
  }
}

// -----

// What a loop that may not run writes is not written.
// expected-error @below {{never writes output 'y'}}
rt.program @main(%c : !rt.buffer<i1, []> in "c", %y : !rt.buffer<i1, []> out "y") symbols() {
  while %c : !rt.buffer<i1, []> {
  } do {
    copy %c, %y : !rt.buffer<i1, []>, !rt.buffer<i1, []>
  }
}

// -----

rt.program @main(%x : !rt.buffer<f32, [N]> in "x", %y : !rt.buffer<f32, [N]> out "y") symbols(N : [0, 64]) {
  // expected-error @below {{'other' is no program of the module}}
  invoke @other ins(%x) outs(%y) : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
}

// -----

// expected-note @below {{the program}}
rt.program @other(%x : !rt.buffer<f32, [N, 2]> in "x", %y : !rt.buffer<f32, [N, 2]> out "y") symbols(N : [0, 64]) attributes {private} {
  copy %x, %y : !rt.buffer<f32, [N, 2]>, !rt.buffer<f32, [N, 2]>
}
rt.program @main(%x : !rt.buffer<f32, [N]> in "x", %y : !rt.buffer<f32, [N]> out "y") symbols(N : [0, 64]) {
  // expected-error @below {{gives a !rt.buffer<f32, [N]> as input 'x', which is a !rt.buffer<f32, [N, 2]>}}
  invoke @other ins(%x) outs(%y) : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
}

// -----

rt.program @eights(%x : !rt.buffer<f32, [N]> in "x", %y : !rt.buffer<f32, [N]> out "y") symbols(N : [0, 64] div 8) attributes {private} {
  copy %x, %y : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
}
rt.program @main(%x : !rt.buffer<f32, [4*N]> in "x", %y : !rt.buffer<f32, [4*N]> out "y") symbols(N : [0, 16]) {
  // expected-error @below {{runs '@eights' where nothing guarantees that 'N' = 4*N is a multiple of 8}}
  invoke @eights ins(%x) outs(%y) : !rt.buffer<f32, [4*N]>, !rt.buffer<f32, [4*N]>
}

// -----

rt.program @eights(%x : !rt.buffer<f32, [N]> in "x", %y : !rt.buffer<f32, [N]> out "y") symbols(N : [0, 64] div 8) attributes {private} {
  copy %x, %y : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
}
rt.program @main(%x : !rt.buffer<f32, [8*N]> in "x", %y : !rt.buffer<f32, [8*N]> out "y") symbols(N : [0, 16]) {
  // expected-error @below {{runs '@eights' where nothing guarantees that 'N' = 8*N is in [0, 64]}}
  invoke @eights ins(%x) outs(%y) : !rt.buffer<f32, [8*N]>, !rt.buffer<f32, [8*N]>
}

// -----

rt.program @main(%x : !rt.buffer<f32, [N]> in "x", %y : !rt.buffer<f32, [M]> out "y") symbols(N : [0, 64], M : [0, 64]) {
  // expected-error @below {{a view whose sizes are 'checked' keeps elements and rank}}
  %v = view %x {checked = "x"} : !rt.buffer<f32, [N]> -> !rt.buffer<f32, [N, 1]>
}

// -----

rt.program @finds(%x : !rt.buffer<f32, [B]> in "x", %y : !rt.buffer<i64, [1, N]> out "y") symbols(B : [0, 64], N : [0, 64]) attributes {private} {
  %s = alloc : !rt.buffer<i64, [1]>
  call "non_zero" version 1 ins(%x) outs(%y, %s) params(found [N]) : !rt.buffer<f32, [B]>, !rt.buffer<i64, [1, N]>, !rt.buffer<i64, [1]>
}
rt.program @main(%x : !rt.buffer<f32, [B]> in "x", %y : !rt.buffer<i64, [1, B]> out "y") symbols(B : [0, 64]) {
  // expected-error @below {{gives a buffer for output 'y' that is not known to be a !rt.buffer<i64, [1, N]>}}
  invoke @finds ins(%x) outs(%y) : !rt.buffer<f32, [B]>, !rt.buffer<i64, [1, B]>
}
