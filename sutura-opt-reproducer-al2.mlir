gir.kernel @k(%x : !gir.view<dram, i8, [16]> in, %y : !gir.view<dram, i8, [16]> out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %scratch = gir.alloc owner("unit") : !gir.view<l1, i8, [9223372036854775800]>
  %s = gir.slice %x[%zero] cols(0) : !gir.view<dram, i8, [16]> -> !gir.slice<dram, i8, [1, 16]>
  %t = gir.load %s : !gir.slice<dram, i8, [1, 16]> -> !gir.tile<l1, i8, [1, 16]>
  %to = gir.slice %y[%zero] cols(0) : !gir.view<dram, i8, [16]> -> !gir.slice<dram, i8, [1, 16]>
  gir.store %t, %to : !gir.tile<l1, i8, [1, 16]>, !gir.slice<dram, i8, [1, 16]>
}

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(convert-gir-to-gpu)",
      disable_threading: false,
      verify_each: true
    }
  }
#-}
