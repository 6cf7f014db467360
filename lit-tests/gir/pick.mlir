// RUN: sutura-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: gir.kernel @good
// CHECK: %[[AT:.*]] = gir.pick "words" %{{.*}} below %V at %{{.*}} : !gir.tile<vec, i64, [1, 1]>
gir.kernel @good(%w : !gir.view<dram, f32, [V, 8]> in, %i : !gir.view<dram, i64, [N]> in, %y : !gir.view<dram, f32, [N, 8]> out)
    dims(%N : [0, 100], %V : [1, 100]) grid(%n = N) units(1) {
  %zero = arith.constant 0 : index
  %is = gir.slice %i[%n] : !gir.view<dram, i64, [N]> -> !gir.slice<dram, i64, [1, 1]>
  %t = gir.load %is : !gir.slice<dram, i64, [1, 1]> -> !gir.tile<vec, i64, [1, 1]>
  %at = gir.pick "words" %t below %V at %n : !gir.tile<vec, i64, [1, 1]>
  %ws = gir.slice %w[%at, %zero] cols(1) : !gir.view<dram, f32, [V, 8]> -> !gir.slice<dram, f32, [1, 8]>
  %row = gir.load %ws : !gir.slice<dram, f32, [1, 8]> -> !gir.tile<l1, f32, [1, 8]>
  %ys = gir.slice %y[%n, %zero] cols(1) : !gir.view<dram, f32, [N, 8]> -> !gir.slice<dram, f32, [1, 8]>
  gir.store %row, %ys : !gir.tile<l1, f32, [1, 8]>, !gir.slice<dram, f32, [1, 8]>
}

// -----

// Of nothing, no index is one: where a dimension may be empty, what is picked of it must be read along a window.
gir.kernel @may_be_empty(%w : !gir.view<dram, f32, [V]> in, %i : !gir.view<dram, i64, [N]> in, %y : !gir.view<dram, f32, [N]> out)
    dims(%N : [0, 100], %V : [0, 100]) grid(%n = N) units(1) {
  %is = gir.slice %i[%n] : !gir.view<dram, i64, [N]> -> !gir.slice<dram, i64, [1, 1]>
  %t = gir.load %is : !gir.slice<dram, i64, [1, 1]> -> !gir.tile<vec, i64, [1, 1]>
  %at = gir.pick "words" %t below %V at %n : !gir.tile<vec, i64, [1, 1]>
  // expected-error @below {{'gir.slice' op has index %at of dimension 0 of %w, which is not proven below its size V}}
  %ws = gir.slice %w[%at] : !gir.view<dram, f32, [V]> -> !gir.slice<dram, f32, [1, 1]>
  %x = gir.load %ws : !gir.slice<dram, f32, [1, 1]> -> !gir.tile<vec, f32, [1, 1]>
  %ys = gir.slice %y[%n] : !gir.view<dram, f32, [N]> -> !gir.slice<dram, f32, [1, 1]>
  gir.store %x, %ys : !gir.tile<vec, f32, [1, 1]>, !gir.slice<dram, f32, [1, 1]>
}

// -----

gir.kernel @of_another_size(%w : !gir.view<dram, f32, [V]> in, %i : !gir.view<dram, i64, [N]> in, %y : !gir.view<dram, f32, [N]> out)
    dims(%N : [1, 100], %V : [1, 100]) grid(%n = N) units(1) {
  %is = gir.slice %i[%n] : !gir.view<dram, i64, [N]> -> !gir.slice<dram, i64, [1, 1]>
  %t = gir.load %is : !gir.slice<dram, i64, [1, 1]> -> !gir.tile<vec, i64, [1, 1]>
  %at = gir.pick "words" %t below %N at %n : !gir.tile<vec, i64, [1, 1]>
  // expected-error @below {{which is not proven below its size V}}
  %ws = gir.slice %w[%at] : !gir.view<dram, f32, [V]> -> !gir.slice<dram, f32, [1, 1]>
  %x = gir.load %ws : !gir.slice<dram, f32, [1, 1]> -> !gir.tile<vec, f32, [1, 1]>
  %ys = gir.slice %y[%n] : !gir.view<dram, f32, [N]> -> !gir.slice<dram, f32, [1, 1]>
  gir.store %x, %ys : !gir.tile<vec, f32, [1, 1]>, !gir.slice<dram, f32, [1, 1]>
}

// -----

gir.kernel @several(%i : !gir.view<dram, f32, [8]> in, %y : !gir.view<dram, f32, [8]> out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %is = gir.slice %i[%zero] cols(0) : !gir.view<dram, f32, [8]> -> !gir.slice<dram, f32, [1, 8]>
  %t = gir.load %is : !gir.slice<dram, f32, [1, 8]> -> !gir.tile<vec, f32, [1, 8]>
  // expected-error @below {{'gir.pick' op an index must be an integer}}
  %at = gir.pick "words" %t below %zero at %zero : !gir.tile<vec, f32, [1, 8]>
  %ys = gir.slice %y[%zero] cols(0) : !gir.view<dram, f32, [8]> -> !gir.slice<dram, f32, [1, 8]>
  gir.store %t, %ys : !gir.tile<vec, f32, [1, 8]>, !gir.slice<dram, f32, [1, 8]>
}
