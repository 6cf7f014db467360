// RUN: sutura-opt %s --convert-gir-to-cpu | FileCheck %s

// Tiles of indices are tiles of 64-bit integers: numbers, minima and maxima, what is left after a cast.

// CHECK-LABEL: func.func @window
// CHECK-NOT: index
// CHECK: arith.maxsi %{{.*}}, %{{.*}} : i64
// CHECK-NOT: index
// CHECK: arith.minsi %{{.*}}, %{{.*}} : i64
// CHECK-NOT: index
// CHECK: arith.trunci %{{.*}} : i64 to i32
// CHECK-NOT: index
// CHECK: arith.sitofp %{{.*}} : i32 to f32
gir.kernel @window(%y : !gir.view<dram, f32, [N]> out) dims(%N : [1, 100]) grid(%i = N) units(1) {
  %at = gir.iota "cols"(%i) : !gir.tile<vec, index, [1, 1]>
  %zero = gir.fill 0 : index : !gir.tile<vec, index, [1, 1]>
  %three = gir.fill 3 : index : !gir.tile<vec, index, [1, 1]>
  %less = gir.binary "subi" %at, %three : !gir.tile<vec, index, [1, 1]>
  %low = gir.binary "maxsi" %less, %zero : !gir.tile<vec, index, [1, 1]>
  %high = gir.binary "minsi" %low, %three : !gir.tile<vec, index, [1, 1]>
  %narrow = gir.cast "index_cast" %high : !gir.tile<vec, index, [1, 1]> -> !gir.tile<vec, i32, [1, 1]>
  %number = gir.cast "sitofp" %narrow : !gir.tile<vec, i32, [1, 1]> -> !gir.tile<vec, f32, [1, 1]>
  %out = gir.slice %y[%i] : !gir.view<dram, f32, [N]> -> !gir.slice<dram, f32, [1, 1]>
  gir.store %number, %out : !gir.tile<vec, f32, [1, 1]>, !gir.slice<dram, f32, [1, 1]>
}
