// RUN: not sutura-opt %s --split-input-file --convert-gir-to-cpu 2>&1 | FileCheck %s

// CHECK: 'gir.scan' op has no lowering to a CPU on a tile in a cache
gir.kernel @scan_down(%x : !gir.view<dram, f32, [8, N]> in, %y : !gir.view<dram, f32, [8, N]> out)
    dims(%N : [0, 100]) grid() units(1) {
  %zero = arith.constant 0 : index
  %in = gir.slice %x[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [8, N]> -> !gir.slice<dram, f32, [8, N]>
  %t = gir.load %in : !gir.slice<dram, f32, [8, N]> -> !gir.tile<l1, f32, [8, N]>
  %s = gir.scan "add" "rows" %t : !gir.tile<l1, f32, [8, N]>
  %out = gir.slice %y[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [8, N]> -> !gir.slice<dram, f32, [8, N]>
  gir.store %s, %out : !gir.tile<l1, f32, [8, N]>, !gir.slice<dram, f32, [8, N]>
}

// -----

// A loop runs one way.
// CHECK: needs what runs forward and what runs backward at once
gir.kernel @both_ways(%x : !gir.view<dram, f32, [N]> in, %y : !gir.view<dram, f32, [N]> out)
    dims(%N : [0, 100]) grid() units(1) {
  %zero = arith.constant 0 : index
  %in = gir.slice %x[%zero] cols(0) : !gir.view<dram, f32, [N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %in : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %s = gir.scan "add" "cols" %t : !gir.tile<l1, f32, [1, N]>
  %r = gir.scan "add" "cols" %t {reverse} : !gir.tile<l1, f32, [1, N]>
  %b = gir.binary "mul" %s, %r : !gir.tile<l1, f32, [1, N]>
  %out = gir.slice %y[%zero] cols(0) : !gir.view<dram, f32, [N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %b, %out : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

// -----

// Several units belong to machines that have them.
// CHECK: 'gir.kernel' op runs on 8 units, and a CPU group has one
gir.kernel @several_units(%x : !gir.view<dram, f32, [8]> in, %y : !gir.view<dram, f32, [8]> out) dims() grid() units(%u, 8) {
  %from = gir.slice %x[%u] cols(0) : !gir.view<dram, f32, [8]> -> !gir.slice<dram, f32, [1, 1]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 1]> -> !gir.tile<vec, f32, [1, 1]>
  %to = gir.slice %y[%u] cols(0) : !gir.view<dram, f32, [8]> -> !gir.slice<dram, f32, [1, 1]>
  gir.store %t, %to : !gir.tile<vec, f32, [1, 1]>, !gir.slice<dram, f32, [1, 1]>
}

// -----

// CHECK: 'gir.transpose' op has no lowering to a CPU on a tile in a cache
gir.kernel @turned_in_a_cache(%x : !gir.view<dram, f32, [8, 8]> in, %y : !gir.view<dram, f32, [8, 8]> out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [8, 8]> -> !gir.slice<dram, f32, [8, 8]>
  %t = gir.load %from : !gir.slice<dram, f32, [8, 8]> -> !gir.tile<l1, f32, [8, 8]>
  %r = gir.transpose %t : !gir.tile<l1, f32, [8, 8]>
  %to = gir.slice %y[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [8, 8]> -> !gir.slice<dram, f32, [8, 8]>
  gir.store %r, %to : !gir.tile<l1, f32, [8, 8]>, !gir.slice<dram, f32, [8, 8]>
}

// -----

// CHECK: 'gir.load' op makes a tile with 1099511627776 rows, each of which has code of its own: at most 65536
gir.kernel @rows(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 2147483647], %N : [1, 8192]) grid(%i = (M + 1099511627775) floordiv 1099511627776) units(1) {
  %zero = arith.constant 0 : index
  %q = gir.index affine_map<(d0) -> (d0 * 1099511627776)>(%i)
  %from = gir.slice %x[%q, %zero] rows(0) cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1099511627776, 1099511627776]>
  %t = gir.load %from : !gir.slice<dram, f32, [1099511627776, 1099511627776]> -> !gir.tile<l1, f32, [1099511627776, 1099511627776]>
  %to = gir.slice %y[%q, %zero] rows(0) cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1099511627776, 1099511627776]>
  gir.store %t, %to : !gir.tile<l1, f32, [1099511627776, 1099511627776]>, !gir.slice<dram, f32, [1099511627776, 1099511627776]>
}
