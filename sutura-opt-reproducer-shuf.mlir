gir.kernel @mins(%x : !gir.view<dram, f32, [4, 64]> in, %y : !gir.view<dram, f32, [4, 64]> out)
    dims(%S : [1, 1000]) grid() units(%u, 4) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%u, %zero] cols(1) : !gir.view<dram, f32, [4, 64]> -> !gir.slice<dram, f32, [1, 64]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<vec, f32, [1, 64]>
  %r = gir.for %k = %zero to %u carry(%c = %t) : !gir.tile<vec, f32, [1, 64]> {
    %s = gir.reduce "add" "cols" %c : !gir.tile<vec, f32, [1, 64]>
    %b = gir.broadcast %s like %c : !gir.tile<vec, f32, [1, 1]>, !gir.tile<vec, f32, [1, 64]>
    gir.yield %b : !gir.tile<vec, f32, [1, 64]>
  }
  %to = gir.slice %y[%u, %zero] cols(1) : !gir.view<dram, f32, [4, 64]> -> !gir.slice<dram, f32, [1, 64]>
  gir.store %r, %to : !gir.tile<vec, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(convert-gir-to-gpu{threads=8 subgroup=32})",
      disable_threading: false,
      verify_each: true
    }
  }
#-}
