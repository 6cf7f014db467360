// RUN: sutura-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{the dims of the inputs do not determine symbol 'S'}}
rt.program @main(%x : !rt.buffer<f32, [B]> in "x") symbols(B : [0, 64], S : [0, 9]) {
}

// -----

// expected-error @+1 {{'T' is used in a size but is no symbol of the program}}
rt.program @main(%x : !rt.buffer<f32, [T]> in "x") {
}

// -----

// expected-error @+1 {{never writes output 'y'}}
rt.program @main(%x : !rt.buffer<f32, [B]> in "x", %y : !rt.buffer<f32, [B]> out "y") symbols(B : [0, 64]) {
}

// -----

rt.program @main(%x : !rt.buffer<f32, [B]> in "x", %y : !rt.buffer<f32, [B]> out "y") symbols(B : [0, 64]) {
  %t = alloc : !rt.buffer<f32, [B]>
  // expected-error @+1 {{reads a buffer before anything is written to it}}
  copy %t, %y : !rt.buffer<f32, [B]>, !rt.buffer<f32, [B]>
}

// -----

rt.program @main(%x : !rt.buffer<f32, [B]> in "x") symbols(B : [0, 64]) {
  %t = alloc : !rt.buffer<f32, [B]>
  copy %x, %t : !rt.buffer<f32, [B]>, !rt.buffer<f32, [B]>
  // expected-error @+1 {{writes to an input or a constant}}
  copy %t, %x : !rt.buffer<f32, [B]>, !rt.buffer<f32, [B]>
}

// -----

rt.program @main(%x : !rt.buffer<f32, [B]> in "x") symbols(B : [0, 64]) {
  // expected-error @+1 {{cannot prove that B elements are B + 1 elements}}
  %v = view %x : !rt.buffer<f32, [B]> -> !rt.buffer<f32, [B + 1]>
}

// -----

rt.program @main(%x : !rt.buffer<f32, [B]> in "x", %y : !rt.buffer<f32, [B]> out "y") symbols(B : [0, 64]) {
  // expected-error @+1 {{'nothing' does not reference a symbol}}
  launch @nothing(%x, %y) dims [B] : !rt.buffer<f32, [B]>, !rt.buffer<f32, [B]>
}

// -----

rt.program @main(%x : !rt.buffer<f32, [B]> in "x", %y : !rt.buffer<f32, [B]> out "y") symbols(B : [0, 64]) {
  // expected-error @+1 {{1 guards need 2 versions}}
  "rt.select"() <{guards = [#dyn.shape<[B - 1]>]}> ({
  }) : () -> ()
}

// -----

// expected-error @+1 {{elements of a buffer are integers or floats of 1, 2, 4, 8, 16, 32 or 64 bits}}
rt.program @main(%x : !rt.buffer<i5, [4]> in "x") {
}

// -----

// expected-error @+1 {{inputs stand before outputs}}
rt.program @main(%y : !rt.buffer<f32, [4]> out "y", %x : !rt.buffer<f32, [4]> in "x") {
}

// -----

// expected-note @+1 {{the kernel}}
gir.kernel @bounded(%x : !gir.view<dram, f32, [N]> in, %y : !gir.view<dram, f32, [N]> out)
    dims(%N : [1, 8192]) requires([4096 - N]) grid(%i = N) units(1) {
  %in = gir.slice %x[%i] : !gir.view<dram, f32, [N]> -> !gir.slice<dram, f32, [1, 1]>
  %t = gir.load %in : !gir.slice<dram, f32, [1, 1]> -> !gir.tile<vec, f32, [1, 1]>
  %out = gir.slice %y[%i] : !gir.view<dram, f32, [N]> -> !gir.slice<dram, f32, [1, 1]>
  gir.store %t, %out : !gir.tile<vec, f32, [1, 1]>, !gir.slice<dram, f32, [1, 1]>
}
rt.program @main(%x : !rt.buffer<f32, [B]> in "x", %y : !rt.buffer<f32, [B]> out "y") symbols(B : [1, 5000]) {
  // expected-error @+1 {{nothing guarantees that -B + 4096 is not negative, as the kernel requires}}
  launch @bounded(%x, %y) dims [B] : !rt.buffer<f32, [B]>, !rt.buffer<f32, [B]>
}

// -----

// expected-note @+1 {{the kernel}}
gir.kernel @narrow(%x : !gir.view<dram, f32, [N]> in, %y : !gir.view<dram, f32, [N]> out) dims(%N : [64, 64])
    grid(%i = N) units(1) {
  %in = gir.slice %x[%i] : !gir.view<dram, f32, [N]> -> !gir.slice<dram, f32, [1, 1]>
  %t = gir.load %in : !gir.slice<dram, f32, [1, 1]> -> !gir.tile<vec, f32, [1, 1]>
  %out = gir.slice %y[%i] : !gir.view<dram, f32, [N]> -> !gir.slice<dram, f32, [1, 1]>
  gir.store %t, %out : !gir.tile<vec, f32, [1, 1]>, !gir.slice<dram, f32, [1, 1]>
}
rt.program @other_sizes(%x : !rt.buffer<f32, [B]> in "x", %y : !rt.buffer<f32, [B]> out "y") symbols(B : [0, 100]) {
  select if [B - 64, -B + 64] {
    launch @narrow(%x, %y) dims [B] : !rt.buffer<f32, [B]>, !rt.buffer<f32, [B]>
  }, {
    // expected-error @+1 {{nothing guarantees that 'N' = B is in [64, 64], as the kernel declares}}
    launch @narrow(%x, %y) dims [B] : !rt.buffer<f32, [B]>, !rt.buffer<f32, [B]>
  }
}

// -----

rt.program @main(%x : !rt.buffer<f32, [B]> in "x", %y : !rt.buffer<f32, [B]> out "y") symbols(B : [0, 64]) {
  %t = alloc : !rt.buffer<f32, [B]>
  packed {
    // expected-note @+1 {{the other launch}}
    launch @copy(%x, %t) dims [B] : !rt.buffer<f32, [B]>, !rt.buffer<f32, [B]>
    // expected-error @+1 {{shares memory that one of them writes with another launch of the 'rt.packed'}}
    launch @copy(%t, %y) dims [B] : !rt.buffer<f32, [B]>, !rt.buffer<f32, [B]>
  }
}
func.func @copy(%bufs: !llvm.ptr, %dims: !llvm.ptr, %begin: i64, %end: i64) attributes {rt.kernel = {
    params = [!rt.buffer<f32, [M]>, !rt.buffer<f32, [M]>], modes = ["in", "out"],
    dims = [{name = "M"}], grid = #dyn.shape<[M]>}} {
  return
}

// -----

rt.program @main(%x : !rt.buffer<f32, [B]> in "x", %y : !rt.buffer<f32, [B]> out "y") symbols(B : [0, 64]) {
  // expected-error @+1 {{launches nothing}}
  packed {
  }
  copy %x, %y : !rt.buffer<f32, [B]>, !rt.buffer<f32, [B]>
}

// -----

rt.program @main(%x : !rt.buffer<f32, [B]> in "x", %y : !rt.buffer<f32, [B]> out "y") symbols(B : [0, 64]) {
  packed {
    launch @copy(%x, %y) dims [B] : !rt.buffer<f32, [B]>, !rt.buffer<f32, [B]>
    // expected-error @+1 {{takes nothing else}}
    %c = arith.constant 0 : index
  }
}
func.func @copy(%bufs: !llvm.ptr, %dims: !llvm.ptr, %begin: i64, %end: i64) attributes {rt.kernel = {
    params = [!rt.buffer<f32, [M]>, !rt.buffer<f32, [M]>], modes = ["in", "out"],
    dims = [{name = "M"}], grid = #dyn.shape<[M]>}} {
  return
}

// -----

// A size is a multiple of something.
// expected-note @below {{declared here}}
func.func @kernel(%bufs: !llvm.ptr, %dims: !llvm.ptr, %begin: i64, %end: i64) attributes {
    rt.kernel = {dims = [{div = 0 : i64, max = 100 : i64, min = 0 : i64, name = "M"}], grid = #dyn.shape<[M]>, modes = ["in", "out"], params = [!rt.buffer<f32, [M]>, !rt.buffer<f32, [M]>], requires = #dyn.shape<[]>}} {
  return
}
rt.program @main(%x : !rt.buffer<f32, [M]> in "x", %y : !rt.buffer<f32, [M]> out "y") symbols(M : [0, 100]) {
  // expected-error @below {{'kernel' has a malformed 'rt.kernel' attribute}}
  launch @kernel(%x, %y) dims [M] : !rt.buffer<f32, [M]>, !rt.buffer<f32, [M]>
}
