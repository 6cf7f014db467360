// The output has eight times as many elements as the input, more than 64 bits count for the largest inputs.
rt.program @large(%x : !rt.buffer<f32, [A, B, C]> in "x", %y : !rt.buffer<f32, [A]> out "y",
                  %z : !rt.buffer<f32, [8, B, C]> out "z")
    symbols(A : [0, 2147483647], B : [0, 2147483647], C : [0, 2147483647]) {
  launch @nothing(%y) dims [A] : !rt.buffer<f32, [A]>
  %v = view %z : !rt.buffer<f32, [8, B, C]> -> !rt.buffer<f32, [8*B*C]>
  launch @nothing(%v) dims [8*B*C] : !rt.buffer<f32, [8*B*C]>
}
func.func @nothing(%bufs: !llvm.ptr, %dims: !llvm.ptr, %begin: i64, %end: i64) attributes {rt.kernel = {
    params = [!rt.buffer<f32, [N]>], modes = ["out"], dims = [{name = "N", max = 9223372036854775807}],
    grid = #dyn.shape<[N]>}} {
  return
}
