
gpu.module @kernels {
  gpu.func @negates(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %m: i64) kernel attributes {rt.groups_of_block = 4 : i64,
      rt.kernel = {dims = [{div = 1 : i64, max = 100 : i64, min = 0 : i64, name = "M"}], grid = #dyn.shape<[M]>, modes = ["in", "out"], params = [!rt.buffer<f32, [M]>, !rt.buffer<f32, [M]>], requires = #dyn.shape<[]>}} {
    gpu.return
  }
}
func.func @here(%bufs: !llvm.ptr, %dims: !llvm.ptr, %begin: i64, %end: i64) attributes {
    rt.kernel = {dims = [{div = 1 : i64, max = 100 : i64, min = 0 : i64, name = "M"}], grid = #dyn.shape<[M]>, modes = ["in", "out"], params = [!rt.buffer<f32, [M]>, !rt.buffer<f32, [M]>], requires = #dyn.shape<[]>}} {
  return
}

// expected-error@+1 {{launches kernels of a device and of the processor}}
rt.program @main(%x : !rt.buffer<f32, [M]> in "x", %y : !rt.buffer<f32, [M]> out "y", %z : !rt.buffer<f32, [M]> out "z") symbols(M : [0, 100]) {
  // expected-note@+1 {{on the device}}
  launch @kernels::@negates(%x, %y) dims [M] : !rt.buffer<f32, [M]>, !rt.buffer<f32, [M]>
  // expected-note@+1 {{on the processor}}
  launch @here(%x, %z) dims [M] : !rt.buffer<f32, [M]>, !rt.buffer<f32, [M]>
}

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(convert-rt-to-llvm)",
      disable_threading: false,
      verify_each: true
    }
  }
#-}
