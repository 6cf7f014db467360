// What is computed of one number per row: a dear function once for a vector of rows, and lanes of several vectors together.
// RUN: sutura-opt %s --convert-gir-to-cpu=vector-bytes=16 | FileCheck %s

!view = !gir.view<dram, f32, [4, 4]>
!numbers = !gir.view<dram, f32, [4, 1]>

// Four vectors of four lanes take three combinations and not eight: two pairs, and the two of these.
// CHECK-LABEL: func.func @sums(
// CHECK-COUNT-6: vector.shuffle
// CHECK-NOT: vector.shuffle
// CHECK: math.exp %{{.*}} : vector<4xf32>
// CHECK-NOT: math.exp
gir.kernel @sums(%x : !view in, %y : !numbers out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%zero, %zero] rows(0) cols(1) : !view -> !gir.slice<dram, f32, [4, 4]>
  %t = gir.load %from : !gir.slice<dram, f32, [4, 4]> -> !gir.tile<vec, f32, [4, 4]>
  %s = gir.reduce "add" "cols" %t : !gir.tile<vec, f32, [4, 4]>
  %e = gir.unary "exp" %s : !gir.tile<vec, f32, [4, 1]>
  %to = gir.slice %y[%zero, %zero] rows(0) cols(1) : !numbers -> !gir.slice<dram, f32, [4, 1]>
  gir.store %e, %to : !gir.tile<vec, f32, [4, 1]>, !gir.slice<dram, f32, [4, 1]>
}

// Of three rows each number is computed by itself.
// CHECK-LABEL: func.func @few(
// CHECK-COUNT-3: math.exp %{{.*}} : f32
gir.kernel @few(%x : !gir.view<dram, f32, [3, 1]> in, %y : !gir.view<dram, f32, [3, 1]> out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [3, 1]> -> !gir.slice<dram, f32, [3, 1]>
  %t = gir.load %from : !gir.slice<dram, f32, [3, 1]> -> !gir.tile<vec, f32, [3, 1]>
  %e = gir.unary "exp" %t : !gir.tile<vec, f32, [3, 1]>
  %to = gir.slice %y[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [3, 1]> -> !gir.slice<dram, f32, [3, 1]>
  gir.store %e, %to : !gir.tile<vec, f32, [3, 1]>, !gir.slice<dram, f32, [3, 1]>
}
