// A scan within the loop over vectors: neighbours at distances of 1, 2, 4 and 8, behind what the loop carries.

// RUN: sutura-opt %s --convert-gir-to-cpu=vector-bytes=64 | FileCheck %s
// RUN: sutura-opt %s --convert-gir-to-cpu=vector-bytes=16 -o /dev/null
// RUN: sutura-opt %s --convert-gir-to-cpu=vector-bytes=4 -o /dev/null

// CHECK-LABEL: func.func @forward
// CHECK: scf.for {{.*}} -> (vector<16xf32>)
// CHECK: vector.shuffle %[[X:.*]], %[[ZERO:.*]] [16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14] : vector<16xf32>, vector<16xf32>
// CHECK: vector.shuffle %{{.*}}, %[[ZERO]] [16, 16, 0, 1, 2
// CHECK: vector.shuffle %{{.*}}, %[[ZERO]] [16, 16, 16, 16, 0
// CHECK: vector.shuffle %{{.*}}, %[[ZERO]] [16, 16, 16, 16, 16, 16, 16, 16, 0
// CHECK: vector.shuffle %[[P:.*]], %[[P]] [15, 15, 15
// CHECK: arith.addf
// CHECK: %[[NEXT:.*]] = arith.addf
// CHECK: scf.yield %[[NEXT]] : vector<16xf32>
// CHECK: scf.if
// CHECK: arith.select
gir.kernel @forward(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 9], %N : [0, 1000]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %in = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %in : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %s = gir.scan "add" "cols" %t : !gir.tile<l1, f32, [1, N]>
  %out = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %s, %out : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

// Backward the masked rest of the columns comes before the loop.
// CHECK-LABEL: func.func @backward
// CHECK: %[[REST:.*]] = scf.if {{.*}} -> (vector<16xi32>)
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[REST]]) -> (vector<16xi32>)
// CHECK: vector.shuffle %[[P:.*]], %[[P]] [0, 0, 0
gir.kernel @backward(%x : !gir.view<dram, i32, [M, N]> in, %y : !gir.view<dram, i32, [M, N]> out)
    dims(%M : [0, 9], %N : [0, 1000]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %in = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, i32, [M, N]> -> !gir.slice<dram, i32, [1, N]>
  %t = gir.load %in : !gir.slice<dram, i32, [1, N]> -> !gir.tile<l1, i32, [1, N]>
  %s = gir.scan "addi" "cols" %t {exclusive, reverse} : !gir.tile<l1, i32, [1, N]>
  %out = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, i32, [M, N]> -> !gir.slice<dram, i32, [1, N]>
  gir.store %s, %out : !gir.tile<l1, i32, [1, N]>, !gir.slice<dram, i32, [1, N]>
}

// Tiles in registers: along columns and along rows.
// CHECK-LABEL: func.func @in_registers
// CHECK: vector.shuffle
// CHECK: arith.mulf
gir.kernel @in_registers(%x : !gir.view<dram, f32, [4, 24]> in, %y : !gir.view<dram, f32, [4, 24]> out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %in = gir.slice %x[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [4, 24]> -> !gir.slice<dram, f32, [4, 24]>
  %t = gir.load %in : !gir.slice<dram, f32, [4, 24]> -> !gir.tile<vec, f32, [4, 24]>
  %s = gir.scan "add" "cols" %t {reverse} : !gir.tile<vec, f32, [4, 24]>
  %r = gir.scan "mul" "rows" %s {exclusive} : !gir.tile<vec, f32, [4, 24]>
  %out = gir.slice %y[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [4, 24]> -> !gir.slice<dram, f32, [4, 24]>
  gir.store %r, %out : !gir.tile<vec, f32, [4, 24]>, !gir.slice<dram, f32, [4, 24]>
}

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(convert-gir-to-gpu{threads=32})",
      disable_threading: false,
      verify_each: true
    }
  }
#-}
