gir.kernel @k(%x : !gir.view<dram, f32, [N]> in, %y : !gir.view<dram, f32, [N]> out)
    dims(%N : [1, 100]) grid(%i = N) units(1) {
  %zero = arith.constant 0 : index
  %a = gir.slice %x[%i] : !gir.view<dram, f32, [N]> -> !gir.slice<dram, f32, [1, 1]>
  %t = gir.load %a : !gir.slice<dram, f32, [1, 1]> -> !gir.tile<vec, f32, [1, 1]>
  %b = gir.slice %y[%zero] : !gir.view<dram, f32, [N]> -> !gir.slice<dram, f32, [1, 1]>
  gir.store %t, %b : !gir.tile<vec, f32, [1, 1]>, !gir.slice<dram, f32, [1, 1]>
}
