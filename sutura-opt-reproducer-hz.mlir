gir.kernel @shifted(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 100], %N : [1, 1024]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %b = gir.alloc owner("unit") : !gir.view<l1, f32, [1, 1025]>
  %in = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %in : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %b0 = gir.slice %b[%zero, %zero] cols(1) : !gir.view<l1, f32, [1, 1025]> -> !gir.slice<l1, f32, [1, N]>
  gir.store %t, %b0 : !gir.tile<l1, f32, [1, N]>, !gir.slice<l1, f32, [1, N]>
  %u = gir.load %b0 : !gir.slice<l1, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %e = gir.unary "exp" %u : !gir.tile<l1, f32, [1, N]>
  %b1 = gir.slice %b[%zero, %one] cols(1) : !gir.view<l1, f32, [1, 1025]> -> !gir.slice<l1, f32, [1, N]>
  gir.store %e, %b1 : !gir.tile<l1, f32, [1, N]>, !gir.slice<l1, f32, [1, N]>
  %v = gir.load %b1 : !gir.slice<l1, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %out = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %v, %out : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(convert-gir-to-cpu)",
      disable_threading: false,
      verify_each: true
    }
  }
#-}
