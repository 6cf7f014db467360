// RUN: sutura-opt %s --pass-pipeline='builtin.module(plan-buffers,convert-rt-to-llvm)' --split-input-file --verify-diagnostics

rt.program @main(%x : !rt.buffer<f32, [A]> in "x", %y : !rt.buffer<f32, [A]> out "y") symbols(A : [0, 64]) {
  // expected-error @+1 {{launches a function whose arguments are not those of a kernel}}
  launch @copy(%x, %y) dims [A] : !rt.buffer<f32, [A]>, !rt.buffer<f32, [A]>
}
// expected-note @+1 {{this one}}
func.func @copy(%bufs: !llvm.ptr, %dims: !llvm.ptr, %begin: f32, %end: i64) attributes {rt.kernel = {
    params = [!rt.buffer<f32, [M]>, !rt.buffer<f32, [M]>], modes = ["in", "out"],
    dims = [{name = "M"}], grid = #dyn.shape<[M]>}} {
  return
}

// -----

rt.program @main(%x : !rt.buffer<f32, [A]> in "x", %y : !rt.buffer<f32, [A]> out "y") symbols(A : [0, 64]) {
  // expected-error @+1 {{launches a function whose arguments are not those of a kernel}}
  launch @copy(%x, %y) dims [A] : !rt.buffer<f32, [A]>, !rt.buffer<f32, [A]>
}
// expected-note @+1 {{this one}}
func.func @copy(%bufs: !llvm.ptr, %dims: !llvm.ptr, %begin: i64, %end: i64) -> i64 attributes {rt.kernel = {
    params = [!rt.buffer<f32, [M]>, !rt.buffer<f32, [M]>], modes = ["in", "out"],
    dims = [{name = "M"}], grid = #dyn.shape<[M]>}} {
  return %end : i64
}
