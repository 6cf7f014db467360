// RUN: sutura-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: gir.kernel @good
// CHECK: %[[D:.*]] = gir.divisor "ratio" %{{.*}} at(%{{.*}}, %{{.*}}, %{{.*}}) : !gir.tile<vec, i32, [1, 8]>
// CHECK: gir.binary "divsi" %{{.*}}, %[[D]]
// CHECK: gir.divisor "rest" %{{.*}} : !gir.tile<vec, i32, [1, 1]>
// CHECK: gir.binary "remsi"
// CHECK: gir.binary "floordivsi"
gir.kernel @good(%x : !gir.view<dram, i32, [8]> in, %y : !gir.view<dram, i32, [8]> out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %s = gir.slice %x[%zero] cols(0) : !gir.view<dram, i32, [8]> -> !gir.slice<dram, i32, [1, 8]>
  %t = gir.load %s : !gir.slice<dram, i32, [1, 8]> -> !gir.tile<vec, i32, [1, 8]>
  %d = gir.divisor "ratio" %t at(%zero, %zero, %one) : !gir.tile<vec, i32, [1, 8]>
  %q = gir.binary "divsi" %t, %d : !gir.tile<vec, i32, [1, 8]>
  %m = gir.reduce "maxsi" "cols" %t : !gir.tile<vec, i32, [1, 8]>
  %n = gir.divisor "rest" %m : !gir.tile<vec, i32, [1, 1]>
  %b = gir.broadcast %n like %t : !gir.tile<vec, i32, [1, 1]>, !gir.tile<vec, i32, [1, 8]>
  %r = gir.binary "remsi" %q, %b : !gir.tile<vec, i32, [1, 8]>
  %c = gir.fill -3 : i32 : !gir.tile<vec, i32, [1, 8]>
  %f = gir.binary "floordivsi" %r, %c : !gir.tile<vec, i32, [1, 8]>
  %o = gir.slice %y[%zero] cols(0) : !gir.view<dram, i32, [8]> -> !gir.slice<dram, i32, [1, 8]>
  gir.store %f, %o : !gir.tile<vec, i32, [1, 8]>, !gir.slice<dram, i32, [1, 8]>
}

// -----

gir.kernel @unchecked(%x : !gir.view<dram, i32, [8]> in, %y : !gir.view<dram, i32, [8]> out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %s = gir.slice %x[%zero] cols(0) : !gir.view<dram, i32, [8]> -> !gir.slice<dram, i32, [1, 8]>
  %t = gir.load %s : !gir.slice<dram, i32, [1, 8]> -> !gir.tile<vec, i32, [1, 8]>
  // expected-error @below {{'gir.binary' op 'divsi' divides by what may be 0: divide by a 'gir.divisor' of it, or by a constant other than 0}}
  %q = gir.binary "divsi" %t, %t : !gir.tile<vec, i32, [1, 8]>
  %o = gir.slice %y[%zero] cols(0) : !gir.view<dram, i32, [8]> -> !gir.slice<dram, i32, [1, 8]>
  gir.store %q, %o : !gir.tile<vec, i32, [1, 8]>, !gir.slice<dram, i32, [1, 8]>
}

// -----

gir.kernel @by_zero(%x : !gir.view<dram, i32, [8]> in, %y : !gir.view<dram, i32, [8]> out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %s = gir.slice %x[%zero] cols(0) : !gir.view<dram, i32, [8]> -> !gir.slice<dram, i32, [1, 8]>
  %t = gir.load %s : !gir.slice<dram, i32, [1, 8]> -> !gir.tile<vec, i32, [1, 8]>
  %c = gir.fill 0 : i32 : !gir.tile<vec, i32, [1, 8]>
  // expected-error @below {{'gir.binary' op 'remsi' divides by what may be 0}}
  %q = gir.binary "remsi" %t, %c : !gir.tile<vec, i32, [1, 8]>
  %o = gir.slice %y[%zero] cols(0) : !gir.view<dram, i32, [8]> -> !gir.slice<dram, i32, [1, 8]>
  gir.store %q, %o : !gir.tile<vec, i32, [1, 8]>, !gir.slice<dram, i32, [1, 8]>
}

// -----

gir.kernel @of_floats(%x : !gir.view<dram, f32, [8]> in, %y : !gir.view<dram, f32, [8]> out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %s = gir.slice %x[%zero] cols(0) : !gir.view<dram, f32, [8]> -> !gir.slice<dram, f32, [1, 8]>
  %t = gir.load %s : !gir.slice<dram, f32, [1, 8]> -> !gir.tile<vec, f32, [1, 8]>
  // expected-error @below {{'gir.divisor' op checks integers}}
  %d = gir.divisor "ratio" %t : !gir.tile<vec, f32, [1, 8]>
  %o = gir.slice %y[%zero] cols(0) : !gir.view<dram, f32, [8]> -> !gir.slice<dram, f32, [1, 8]>
  gir.store %d, %o : !gir.tile<vec, f32, [1, 8]>, !gir.slice<dram, f32, [1, 8]>
}

// -----

gir.kernel @half_a_place(%x : !gir.view<dram, i32, [8]> in, %y : !gir.view<dram, i32, [8]> out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %s = gir.slice %x[%zero] cols(0) : !gir.view<dram, i32, [8]> -> !gir.slice<dram, i32, [1, 8]>
  %t = gir.load %s : !gir.slice<dram, i32, [1, 8]> -> !gir.tile<vec, i32, [1, 8]>
  // expected-error @below {{'gir.divisor' op takes a position and two distances behind 'at', not 1 indices}}
  %d = gir.divisor "ratio" %t at(%zero) : !gir.tile<vec, i32, [1, 8]>
  %o = gir.slice %y[%zero] cols(0) : !gir.view<dram, i32, [8]> -> !gir.slice<dram, i32, [1, 8]>
  gir.store %d, %o : !gir.tile<vec, i32, [1, 8]>, !gir.slice<dram, i32, [1, 8]>
}
