gir.kernel @picked(%n : !gir.view<dram, i64, [4]> in, %x : !gir.view<dram, f32, [4, 64]> in, %y : !gir.view<dram, f32, [4, 64]> out)
    dims(%S : [1, 1000]) grid() units(%u, 4) {
  %zero = arith.constant 0 : index
  %near = gir.alloc owner("unit") : !gir.view<l1, f32, [256]>
  %own = gir.index affine_map<(d0) -> (d0 * 64)>(%u)
  %across = gir.index affine_map<(d0) -> (d0 * 64)>(%u)
  %ns = gir.slice %n[%u] : !gir.view<dram, i64, [4]> -> !gir.slice<dram, i64, [1, 1]>
  %nt = gir.load %ns : !gir.slice<dram, i64, [1, 1]> -> !gir.tile<vec, i64, [1, 1]>
  %trips = gir.pick "trips" %nt below %S at %u : !gir.tile<vec, i64, [1, 1]>
  %from = gir.slice %x[%u, %zero] cols(1) : !gir.view<dram, f32, [4, 64]> -> !gir.slice<dram, f32, [1, 64]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<vec, f32, [1, 64]>
  %mine = gir.slice %near[%own] cols(0) : !gir.view<l1, f32, [256]> -> !gir.slice<l1, f32, [1, 64]>
  %theirs = gir.slice %near[%across] cols(0) : !gir.view<l1, f32, [256]> -> !gir.slice<l1, f32, [1, 64]>
  %r = gir.for %k = %zero to %trips carry(%c = %t) : !gir.tile<vec, f32, [1, 64]> {
    gir.store %c, %mine : !gir.tile<vec, f32, [1, 64]>, !gir.slice<l1, f32, [1, 64]>
    %o = gir.load %theirs : !gir.slice<l1, f32, [1, 64]> -> !gir.tile<vec, f32, [1, 64]>
    gir.yield %o : !gir.tile<vec, f32, [1, 64]>
  }
  %to = gir.slice %y[%u, %zero] cols(1) : !gir.view<dram, f32, [4, 64]> -> !gir.slice<dram, f32, [1, 64]>
  gir.store %r, %to : !gir.tile<vec, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}
rt.program @main(%n : !rt.buffer<i64, [4]> in "n", %x : !rt.buffer<f32, [4, 64]> in "x", %z : !rt.buffer<f32, [S]> in "z", %y : !rt.buffer<f32, [4, 64]> out "y")
    symbols(S : [1, 1000]) {
  launch @picked(%n, %x, %y) dims [S] : !rt.buffer<i64, [4]>, !rt.buffer<f32, [4, 64]>, !rt.buffer<f32, [4, 64]>
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
