// RUN: sutura-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// The group's index tells a row, along which it alone comes to elements, wherever they are.
// CHECK-LABEL: gir.kernel @apart
gir.kernel @apart(%i : !gir.view<dram, i64, [M, K]> in, %y : !gir.view<dram, f32, [M, 8]> inout)
    dims(%K : [0, 100], %M : [1, 100]) grid(%m = M) units(1) {
  %zero = arith.constant 0 : index
  %eight = arith.constant 8 : index
  gir.for %k = %zero to %K {
    %is = gir.slice %i[%m, %k] : !gir.view<dram, i64, [M, K]> -> !gir.slice<dram, i64, [1, 1]>
    %t = gir.load %is : !gir.slice<dram, i64, [1, 1]> -> !gir.tile<vec, i64, [1, 1]>
    %at = gir.pick "words" %t below %eight at %k : !gir.tile<vec, i64, [1, 1]>
    %from = gir.slice %y[%m, %at] : !gir.view<dram, f32, [M, 8]> -> !gir.slice<dram, f32, [1, 1]>
    %old = gir.load %from : !gir.slice<dram, f32, [1, 1]> -> !gir.tile<vec, f32, [1, 1]>
    %new = gir.unary "neg" %old : !gir.tile<vec, f32, [1, 1]>
    gir.store %new, %from : !gir.tile<vec, f32, [1, 1]>, !gir.slice<dram, f32, [1, 1]>
  }
}

// -----

// Two groups may pick one place.
gir.kernel @together(%i : !gir.view<dram, i64, [M]> in, %y : !gir.view<dram, f32, [8]> inout)
    dims(%M : [1, 100]) grid(%m = M) units(1) {
  %eight = arith.constant 8 : index
  %is = gir.slice %i[%m] : !gir.view<dram, i64, [M]> -> !gir.slice<dram, i64, [1, 1]>
  %t = gir.load %is : !gir.slice<dram, i64, [1, 1]> -> !gir.tile<vec, i64, [1, 1]>
  %at = gir.pick "words" %t below %eight at %m : !gir.tile<vec, i64, [1, 1]>
  %to = gir.slice %y[%at] : !gir.view<dram, f32, [8]> -> !gir.slice<dram, f32, [1, 1]>
  %new = gir.fill 1.0 : f32 : !gir.tile<vec, f32, [1, 1]>
  // expected-error @below {{'gir.store' op is not proven to write %y once}}
  gir.store %new, %to : !gir.tile<vec, f32, [1, 1]>, !gir.slice<dram, f32, [1, 1]>
}

// -----

// A group reads the row of its neighbour.
gir.kernel @neighbour(%y : !gir.view<dram, f32, [M, 8]> inout) dims(%M : [2, 100]) grid(%m = M - 1) units(1) {
  %zero = arith.constant 0 : index
  %eight = arith.constant 8 : index
  gir.for %k = %zero to %eight {
    %next = gir.index affine_map<(d0) -> (d0 + 1)>(%m)
    %from = gir.slice %y[%next, %k] : !gir.view<dram, f32, [M, 8]> -> !gir.slice<dram, f32, [1, 1]>
    %old = gir.load %from : !gir.slice<dram, f32, [1, 1]> -> !gir.tile<vec, f32, [1, 1]>
    %to = gir.slice %y[%m, %zero] : !gir.view<dram, f32, [M, 8]> -> !gir.slice<dram, f32, [1, 1]>
    // expected-error @below {{'gir.store' op is not proven to write %y once}}
    gir.store %old, %to : !gir.tile<vec, f32, [1, 1]>, !gir.slice<dram, f32, [1, 1]>
  }
}

// -----

// Tiles of columns that overlap: the neighbour's are written too.
gir.kernel @overlap(%y : !gir.view<dram, f32, [256]> inout) dims() grid(%m = 8) units(1) {
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  %base = gir.index affine_map<(d0) -> (d0 * 16)>(%m)
  gir.for %k = %zero to %two {
    %to = gir.slice %y[%base] cols(0) : !gir.view<dram, f32, [256]> -> !gir.slice<dram, f32, [1, 32]>
    %old = gir.load %to : !gir.slice<dram, f32, [1, 32]> -> !gir.tile<vec, f32, [1, 32]>
    // expected-error @below {{'gir.store' op is not proven to write %y once}}
    gir.store %old, %to : !gir.tile<vec, f32, [1, 32]>, !gir.slice<dram, f32, [1, 32]>
  }
}
