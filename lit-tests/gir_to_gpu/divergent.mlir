// What units of a group do together they cannot do in a loop that some of them run more often than others.
// RUN: sutura-opt %s --split-input-file --verify-diagnostics --convert-gir-to-gpu="threads=8 subgroup=32"

// Units that share a subgroup hand each other values within it.
// expected-error@+2 {{has units that wait for each other, or hand each other values, in a loop whose trips may differ from unit to unit}}
// expected-note@+1 {{in kernel @mins}}
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

// -----

// Data says how many trips there are. What a unit keeps in the block's memory its threads wait for.
// expected-error@+2 {{has units that wait for each other, or hand each other values, in a loop whose trips may differ from unit to unit}}
// expected-note@+1 {{in kernel @picked}}
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

// -----

// The text itself waits in such a loop.
gir.kernel @picked(%n : !gir.view<dram, i64, [4]> in, %x : !gir.view<dram, f32, [4, 64]> in, %y : !gir.view<dram, f32, [4, 64]> out)
    dims(%S : [1, 1000]) grid() units(%u, 4) {
  %zero = arith.constant 0 : index
  %near = gir.alloc owner("group") : !gir.view<shared, f32, [256]>
  %own = gir.index affine_map<(d0) -> (d0 * 64)>(%u)
  %across = gir.index affine_map<(d0) -> (192 - d0 * 64)>(%u)
  %ns = gir.slice %n[%u] : !gir.view<dram, i64, [4]> -> !gir.slice<dram, i64, [1, 1]>
  %nt = gir.load %ns : !gir.slice<dram, i64, [1, 1]> -> !gir.tile<vec, i64, [1, 1]>
  %trips = gir.pick "trips" %nt below %S at %u : !gir.tile<vec, i64, [1, 1]>
  %from = gir.slice %x[%u, %zero] cols(1) : !gir.view<dram, f32, [4, 64]> -> !gir.slice<dram, f32, [1, 64]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<vec, f32, [1, 64]>
  %mine = gir.slice %near[%own] cols(0) : !gir.view<shared, f32, [256]> -> !gir.slice<shared, f32, [1, 64]>
  %theirs = gir.slice %near[%across] cols(0) : !gir.view<shared, f32, [256]> -> !gir.slice<shared, f32, [1, 64]>
  %r = gir.for %k = %zero to %trips carry(%c = %t) : !gir.tile<vec, f32, [1, 64]> {
    gir.store %c, %mine : !gir.tile<vec, f32, [1, 64]>, !gir.slice<shared, f32, [1, 64]>
    // expected-error@+1 {{stands in a loop whose trips may differ from unit to unit: that of %k}}
    gir.sync
    %o = gir.load %theirs : !gir.slice<shared, f32, [1, 64]> -> !gir.tile<vec, f32, [1, 64]>
    // expected-error@+1 {{stands in a loop whose trips may differ from unit to unit: that of %k}}
    gir.sync
    gir.yield %o : !gir.tile<vec, f32, [1, 64]>
  }
  %to = gir.slice %y[%u, %zero] cols(1) : !gir.view<dram, f32, [4, 64]> -> !gir.slice<dram, f32, [1, 64]>
  gir.store %r, %to : !gir.tile<vec, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}

// -----

// Data says where units write.
gir.kernel @pw(%n : !gir.view<dram, i64, [4]> in, %x : !gir.view<dram, f32, [4, 64]> in, %y : !gir.view<dram, f32, [4, 64]> out)
    dims(%S : [1, 65]) grid() units(%u, 4) {
  %zero = arith.constant 0 : index
  %near = gir.alloc owner("group") : !gir.view<shared, f32, [321]>
  %ns = gir.slice %n[%u] : !gir.view<dram, i64, [4]> -> !gir.slice<dram, i64, [1, 1]>
  %nt = gir.load %ns : !gir.slice<dram, i64, [1, 1]> -> !gir.tile<vec, i64, [1, 1]>
  %p = gir.pick "p" %nt below %S at %u : !gir.tile<vec, i64, [1, 1]>
  %own = gir.index affine_map<(d0, d1) -> (d0 * 64 + d1)>(%u, %p)
  %from = gir.slice %x[%u, %zero] cols(1) : !gir.view<dram, f32, [4, 64]> -> !gir.slice<dram, f32, [1, 64]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<vec, f32, [1, 64]>
  %mine = gir.slice %near[%own] cols(0) : !gir.view<shared, f32, [321]> -> !gir.slice<shared, f32, [1, 64]>
  // expected-error@+1 {{is not proven to write other elements of %near than other units do}}
  gir.store %t, %mine : !gir.tile<vec, f32, [1, 64]>, !gir.slice<shared, f32, [1, 64]>
  gir.sync
  %o = gir.load %mine : !gir.slice<shared, f32, [1, 64]> -> !gir.tile<vec, f32, [1, 64]>
  %to = gir.slice %y[%u, %zero] cols(1) : !gir.view<dram, f32, [4, 64]> -> !gir.slice<dram, f32, [1, 64]>
  gir.store %o, %to : !gir.tile<vec, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}
