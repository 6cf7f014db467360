
gpu.module @kernels {
  // expected-error@+1 {{has no 'rt.groups_of_block', the number of groups that a block takes at a time}}
  gpu.func @negates(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %m: i64) kernel attributes {
      rt.kernel = {dims = [{div = 1 : i64, max = 100 : i64, min = 0 : i64, name = "M"}], grid = #dyn.shape<[M]>, modes = ["in", "out"], params = [!rt.buffer<f32, [M]>, !rt.buffer<f32, [M]>], requires = #dyn.shape<[]>}} {
    gpu.return
  }
}

rt.program @main(%x : !rt.buffer<f32, [M]> in "x", %y : !rt.buffer<f32, [M]> out "y") symbols(M : [0, 100]) {
  launch @kernels::@negates(%x, %y) dims [M] : !rt.buffer<f32, [M]>, !rt.buffer<f32, [M]>
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
