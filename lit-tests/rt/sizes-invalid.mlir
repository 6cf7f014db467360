// RUN: sutura-opt %s --split-input-file --verify-diagnostics

rt.program @main(%x : !rt.buffer<f32, [N]> in "x") symbols(N : [0, 64]) {
  // expected-error @below {{is a list of 64-bit integers, of a length that is a number}}
  %sizes = size_list : !rt.buffer<i64, [N]>
}

// -----

rt.program @main(%x : !rt.buffer<i64, [1]> in "x") symbols() {
  // expected-error @below {{needs a list of sizes, made by 'rt.size_list'}}
  read_sizes %x {what = "x", sizes = #dyn.shape<[1]>, most = #dyn.shape<[1]>} : !rt.buffer<i64, [1]>
}

// -----

rt.program @main(%x : !rt.buffer<f32, [N]> in "x") symbols(N : [0, 64]) {
  %sizes = size_list : !rt.buffer<i64, [2]>
  // expected-error @below {{has not as many sizes as the list, which has 2}}
  write_sizes %sizes {sizes = #dyn.shape<[N]>} : !rt.buffer<i64, [2]>
}

// -----

rt.program @main(%x : !rt.buffer<i64, [1]> in "x", %y : !rt.buffer<i64, [1]> out "y") symbols() {
  %sizes = size_list : !rt.buffer<i64, [1]>
  write_sizes %sizes {sizes = #dyn.shape<[1]>} : !rt.buffer<i64, [1]>
  // expected-error @below {{uses a list of sizes, which is for 'rt.write_sizes' and 'rt.read_sizes'}}
  copy %sizes, %y : !rt.buffer<i64, [1]>, !rt.buffer<i64, [1]>
}

// -----

rt.program @main(%x : !rt.buffer<f32, [N]> in "x") symbols(N : [0, 64], R : [0, 64]) {
  %sizes = size_list : !rt.buffer<i64, [1]>
  // expected-error @below {{reads a buffer before anything is written to it: it is a list of sizes}}
  read_sizes %sizes {what = "x", sizes = #dyn.shape<[R]>, most = #dyn.shape<[N]>} : !rt.buffer<i64, [1]>
}

// -----

// What is read in a side is known there alone.
rt.program @main(%c : !rt.buffer<i1, []> in "c", %x : !rt.buffer<f32, [N]> in "x", %y : !rt.buffer<f32, [N]> out "y") symbols(N : [0, 64], R : [0, 64]) {
  %sizes = size_list : !rt.buffer<i64, [1]>
  %f = view %x {front} : !rt.buffer<f32, [N]> -> !rt.buffer<f32, [R]>
  %t = view %y {front} : !rt.buffer<f32, [N]> -> !rt.buffer<f32, [R]>
  write_sizes %sizes {sizes = #dyn.shape<[N]>} : !rt.buffer<i64, [1]>
  if %c : !rt.buffer<i1, []> {
    read_sizes %sizes {what = "x", sizes = #dyn.shape<[R]>, most = #dyn.shape<[N]>} : !rt.buffer<i64, [1]>
  } else {
  }
  // expected-error @below {{uses the size R before what decides it}}
  copy %f, %t : !rt.buffer<f32, [R]>, !rt.buffer<f32, [R]>
}

// -----

// There may be more elements than the buffer has.
rt.program @main(%x : !rt.buffer<f32, [N]> in "x", %w : !rt.buffer<f32, [W]> in "w") symbols(N : [0, 64], W : [0, 64], R : [0, 64]) {
  %sizes = size_list : !rt.buffer<i64, [1]>
  // expected-error @below {{cannot prove that R elements lie at the front of N}}
  %f = view %x {front} : !rt.buffer<f32, [N]> -> !rt.buffer<f32, [R]>
  write_sizes %sizes {sizes = #dyn.shape<[N]>} : !rt.buffer<i64, [1]>
  read_sizes %sizes {what = "x", sizes = #dyn.shape<[R]>, most = #dyn.shape<[W]>} : !rt.buffer<i64, [1]>
}

// -----

rt.program @main(%x : !rt.buffer<f32, [N]> in "x") symbols(N : [0, 64]) {
  // expected-error @below {{a view of the front keeps elements, and its sizes are not 'checked'}}
  %f = view %x {front} : !rt.buffer<f32, [N]> -> !rt.buffer<i32, [N]>
}

// -----

// expected-note @below {{the program}}
rt.program @inner(%x : !rt.buffer<f32, [N]> in "x", %y : !rt.buffer<f32, [N]> out "y") symbols(N : [0, 64]) attributes {private} {
  copy %x, %y : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
}

rt.program @main(%x : !rt.buffer<f32, [N]> in "x", %y : !rt.buffer<f32, [N]> out "y") symbols(N : [0, 64]) {
  // expected-error @below {{has 2 sizes as 'most' where its outputs have 1}}
  invoke @inner ins(%x) outs(%y) {most = #dyn.shape<[N, N]>} : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
}
