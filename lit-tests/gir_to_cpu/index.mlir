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

// A sum of many sizes is one number to LLVM.
// CHECK-LABEL: func.func @sums
// CHECK: %[[SIZES:.*]] = llvm.freeze %{{.*}} : i64
// CHECK: arith.addi %[[SIZES]], %{{.*}} : i64
// CHECK-LABEL: func.func @few
// CHECK-NOT: llvm.freeze
gir.kernel @sums(%y : !gir.view<dram, i64, [N]> out) dims(%N : [1, 100], %A : [0, 9], %B : [0, 9], %C : [0, 9], %D : [0, 9], %E : [0, 9]) grid(%i = N) units(1) {
  %to = gir.index affine_map<(d0)[s0, s1, s2, s3, s4] -> (d0 + s0 + s1 + s2 + s3 + s4)>(%i, %A, %B, %C, %D, %E)
  %at = gir.iota "cols"(%to) : !gir.tile<vec, index, [1, 1]>
  %number = gir.cast "index_cast" %at : !gir.tile<vec, index, [1, 1]> -> !gir.tile<vec, i64, [1, 1]>
  %out = gir.slice %y[%i] : !gir.view<dram, i64, [N]> -> !gir.slice<dram, i64, [1, 1]>
  gir.store %number, %out : !gir.tile<vec, i64, [1, 1]>, !gir.slice<dram, i64, [1, 1]>
}

gir.kernel @few(%y : !gir.view<dram, i64, [N]> out) dims(%N : [1, 100], %A : [0, 9]) grid(%i = N) units(1) {
  %to = gir.index affine_map<(d0)[s0] -> (d0 + s0)>(%i, %A)
  %at = gir.iota "cols"(%to) : !gir.tile<vec, index, [1, 1]>
  %number = gir.cast "index_cast" %at : !gir.tile<vec, index, [1, 1]> -> !gir.tile<vec, i64, [1, 1]>
  %out = gir.slice %y[%i] : !gir.view<dram, i64, [N]> -> !gir.slice<dram, i64, [1, 1]>
  gir.store %number, %out : !gir.tile<vec, i64, [1, 1]>, !gir.slice<dram, i64, [1, 1]>
}
