// What has no lowering to a GPU, or a wrong option.
// RUN: not sutura-opt %s --convert-gir-to-gpu="threads=48" 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: sutura-opt %s --split-input-file --verify-diagnostics --gir-unit-threads=subgroup=32 --convert-gir-to-gpu="shared-bytes=64"
// RUN: not sutura-opt %S/units.mlir --split-input-file --convert-gir-to-gpu="threads=64 subgroup=32" 2>&1 | FileCheck %s --check-prefix=WIDE
// WIDE: has groups of 4 units, each of which is a subgroup at most: 64 threads of 32
// OPTION: option `threads` takes a power of two, not `48`

// expected-error@+2 {{needs more than the 64 bytes of memory that a block has}}
// expected-note@+1 {{in kernel @softmax}}
gir.kernel @softmax(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 2147483647], %N : [1, 8192]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %in = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %in : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %m = gir.reduce "max" "cols" %t : !gir.tile<l1, f32, [1, N]>
  %mb = gir.broadcast %m like %t : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %d = gir.binary "sub" %t, %mb : !gir.tile<l1, f32, [1, N]>
  %e = gir.unary "exp" %d : !gir.tile<l1, f32, [1, N]>
  %s = gir.reduce "add" "cols" %e : !gir.tile<l1, f32, [1, N]>
  %sb = gir.broadcast %s like %e : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %r = gir.binary "div" %e, %sb : !gir.tile<l1, f32, [1, N]>
  %out = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %r, %out : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}


// -----

// expected-error@+2 {{has groups of 64 units of 32 threads; a block has at most 1024}}
// expected-note@+1 {{in kernel @crowded}}
gir.kernel @crowded(%x : !gir.view<dram, f32, [64, 32]> in, %y : !gir.view<dram, f32, [64, 32]> out) dims() grid() units(%u, 64) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%u, %zero] rows(0) cols(1) : !gir.view<dram, f32, [64, 32]> -> !gir.slice<dram, f32, [1, 32]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 32]> -> !gir.tile<vec, f32, [1, 32]>
  %to = gir.slice %y[%u, %zero] rows(0) cols(1) : !gir.view<dram, f32, [64, 32]> -> !gir.slice<dram, f32, [1, 32]>
  gir.store %t, %to : !gir.tile<vec, f32, [1, 32]>, !gir.slice<dram, f32, [1, 32]>
}

// -----

// expected-note@+1 {{in kernel @across}}
gir.kernel @across(%x : !gir.view<dram, f32, [4, 32]> in, %y : !gir.view<dram, f32, [4, 1]> out) dims() grid() units(%u, 4) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%u, %zero] rows(0) cols(1) : !gir.view<dram, f32, [4, 32]> -> !gir.slice<dram, f32, [1, 32]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 32]> -> !gir.tile<vec, f32, [1, 32]>
  // expected-error@+1 {{has no lowering to a GPU across the units of a group}}
  %s = gir.reduce "add" "cols" %t {scope = "group"} : !gir.tile<vec, f32, [1, 32]>
  %to = gir.slice %y[%u, %zero] rows(0) cols(1) : !gir.view<dram, f32, [4, 1]> -> !gir.slice<dram, f32, [1, 1]>
  gir.store %s, %to : !gir.tile<vec, f32, [1, 1]>, !gir.slice<dram, f32, [1, 1]>
}

// -----

// A unit's trips are as many as its number, and in each its threads would wait for each other.
// expected-error@+2 {{has units that wait for each other, or hand each other values, in a loop whose trips may differ from unit to unit}}
// expected-note@+1 {{in kernel @uneven}}
gir.kernel @uneven(%x : !gir.view<dram, f32, [2, 4]> in, %y : !gir.view<dram, f32, [2, 4]> out) dims() grid() units(%u, 2) {
  %zero = arith.constant 0 : index
  %near = gir.alloc owner("unit") : !gir.view<l1, f32, [2]>
  %from = gir.slice %x[%u, %zero] rows(0) cols(1) : !gir.view<dram, f32, [2, 4]> -> !gir.slice<dram, f32, [1, 4]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 4]> -> !gir.tile<vec, f32, [1, 4]>
  gir.for %i = %zero to %u {
    %one = gir.fill 1.0 : f32 : !gir.tile<vec, f32, [1, 2]>
    %mine = gir.slice %near[%zero] cols(0) : !gir.view<l1, f32, [2]> -> !gir.slice<l1, f32, [1, 2]>
    gir.store %one, %mine : !gir.tile<vec, f32, [1, 2]>, !gir.slice<l1, f32, [1, 2]>
    %read = gir.load %mine : !gir.slice<l1, f32, [1, 2]> -> !gir.tile<vec, f32, [1, 2]>
    gir.store %read, %mine : !gir.tile<vec, f32, [1, 2]>, !gir.slice<l1, f32, [1, 2]>
  }
  %to = gir.slice %y[%u, %zero] rows(0) cols(1) : !gir.view<dram, f32, [2, 4]> -> !gir.slice<dram, f32, [1, 4]>
  gir.store %t, %to : !gir.tile<vec, f32, [1, 4]>, !gir.slice<dram, f32, [1, 4]>
}

// -----

// Numbers that do not fit into 64 bits are not computed with.
// expected-note@+1 {{in kernel @registers}}
gir.kernel @registers(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 2147483647], %N : [1, 8192]) grid(%i = (M + 1099511627775) floordiv 1099511627776) units(1) {
  %zero = arith.constant 0 : index
  %q = gir.index affine_map<(d0) -> (d0 * 1099511627776)>(%i)
  %from = gir.slice %x[%q, %zero] rows(0) cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1099511627776, 1099511627776]>
  // expected-error@+1 {{makes a tile with 1208925819614629174706176 elements in registers, each of which has code of its own: at most 65536}}
  %t = gir.load %from : !gir.slice<dram, f32, [1099511627776, 1099511627776]> -> !gir.tile<vec, f32, [1099511627776, 1099511627776]>
  %to = gir.slice %y[%q, %zero] rows(0) cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1099511627776, 1099511627776]>
  gir.store %t, %to : !gir.tile<vec, f32, [1099511627776, 1099511627776]>, !gir.slice<dram, f32, [1099511627776, 1099511627776]>
}

// -----

// So many bytes that there is no number for the next multiple of an alignment.
// expected-note@+1 {{in kernel @beyond_numbers}}
gir.kernel @beyond_numbers(%x : !gir.view<dram, i8, [16]> in, %y : !gir.view<dram, i8, [16]> out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  // expected-error@+1 {{an allocation of 9223372036854775800 elements is not known to fit into a block's memory}}
  %scratch = gir.alloc owner("unit") : !gir.view<l1, i8, [9223372036854775800]>
  %from = gir.slice %x[%zero] cols(0) : !gir.view<dram, i8, [16]> -> !gir.slice<dram, i8, [1, 16]>
  %t = gir.load %from : !gir.slice<dram, i8, [1, 16]> -> !gir.tile<l1, i8, [1, 16]>
  %to = gir.slice %y[%zero] cols(0) : !gir.view<dram, i8, [16]> -> !gir.slice<dram, i8, [1, 16]>
  gir.store %t, %to : !gir.tile<l1, i8, [1, 16]>, !gir.slice<dram, i8, [1, 16]>
}

// -----

// expected-error @below {{copies asynchronously by 'bulk'; what is known is 'nvvm.cp.async'}}
target.machine @odd {triple = "t", features = "", async_copy = "bulk"} {
  target.space @dram {class = "dram", owner = "all"}
}
