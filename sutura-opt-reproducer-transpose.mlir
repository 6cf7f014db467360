// RUN: sutura-opt %s --convert-gir-to-cpu=vector-bytes=16 | FileCheck %s
// RUN: sutura-opt %s --convert-gir-to-cpu=vector-bytes=64 | FileCheck %s --check-prefix=WIDE
// RUN: sutura-opt %s --convert-gir-to-cpu=vector-bytes=16 | sutura-opt --convert-gir-to-cpu -o %t.twice
// RUN: sutura-opt %s --convert-gir-to-cpu=vector-bytes=16 --threads=1 -o %t.once
// RUN: diff %t.once %t.twice

// Four vectors of four numbers of 32 bits: each instruction interleaves pieces of 128 bits, two rounds of four.
// CHECK-LABEL: func.func @square(
// CHECK-COUNT-4: llvm.load {{.*}} vector<4xf32>
// CHECK: %[[A:.*]] = vector.shuffle %{{.*}}, %{{.*}} [0, 4, 1, 5] : vector<4xf32>, vector<4xf32>
// CHECK: %[[B:.*]] = vector.shuffle %{{.*}}, %{{.*}} [2, 6, 3, 7] : vector<4xf32>, vector<4xf32>
// CHECK-COUNT-6: vector.shuffle
// CHECK-NOT: vector.shuffle
// CHECK-NOT: gather
// CHECK-COUNT-4: llvm.store {{.*}} vector<4xf32>

// A vector of 16 has room for four rows and more: the rows that are missing are stood in for, and what is left over of each
// column is not stored.
// WIDE-LABEL: func.func @square(
// WIDE-COUNT-4: llvm.intr.masked.load
// WIDE-COUNT-64: vector.shuffle
// WIDE-NOT: vector.shuffle
// WIDE-COUNT-4: llvm.intr.masked.store
gir.kernel @square(%x : !gir.view<dram, f32, [4, 4]> in, %y : !gir.view<dram, f32, [4, 4]> out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [4, 4]> -> !gir.slice<dram, f32, [4, 4]>
  %t = gir.load %from : !gir.slice<dram, f32, [4, 4]> -> !gir.tile<vec, f32, [4, 4]>
  %r = gir.transpose %t : !gir.tile<vec, f32, [4, 4]>
  %to = gir.slice %y[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [4, 4]> -> !gir.slice<dram, f32, [4, 4]>
  gir.store %r, %to : !gir.tile<vec, f32, [4, 4]>, !gir.slice<dram, f32, [4, 4]>
}

// Truth values are shuffled as bytes.
// CHECK-LABEL: func.func @truths(
// CHECK: arith.extui %{{.*}} : vector<4xi1> to vector<4xi8>
// CHECK: vector.shuffle {{.*}} : vector<4xi8>, vector<4xi8>
// CHECK: arith.trunci %{{.*}} : vector<4xi8> to vector<4xi1>
gir.kernel @truths(%x : !gir.view<dram, i1, [4, 4]> in, %y : !gir.view<dram, i1, [4, 4]> out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%zero, %zero] rows(0) cols(1) : !gir.view<dram, i1, [4, 4]> -> !gir.slice<dram, i1, [4, 4]>
  %t = gir.load %from : !gir.slice<dram, i1, [4, 4]> -> !gir.tile<vec, i1, [4, 4]>
  %r = gir.transpose %t : !gir.tile<vec, i1, [4, 4]>
  %to = gir.slice %y[%zero, %zero] rows(0) cols(1) : !gir.view<dram, i1, [4, 4]> -> !gir.slice<dram, i1, [4, 4]>
  gir.store %r, %to : !gir.tile<vec, i1, [4, 4]>, !gir.slice<dram, i1, [4, 4]>
}

// Blocks of two tiles each way: one condition for all windows of a group, then tiles without masks, else with them.
// CHECK-LABEL: func.func @blocks(
// CHECK: scf.for
// CHECK: scf.if
// CHECK-NOT: masked
// CHECK: } else {
// CHECK: llvm.intr.masked.load
// CHECK: llvm.intr.masked.store
gir.kernel @blocks(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [N, M]> out)
    dims(%M : [0, 1000], %N : [0, 1000]) grid(%i = (M + 7) floordiv 8, %j = (N + 7) floordiv 8) units(1) {
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  gir.for %a = %zero to %two {
    %row = gir.index affine_map<(d0, d1) -> (d0 * 8 + d1 * 4)>(%i, %a)
    gir.for %b = %zero to %two {
      %col = gir.index affine_map<(d0, d1) -> (d0 * 8 + d1 * 4)>(%j, %b)
      %from = gir.slice %x[%row, %col] rows(0) cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [4, 4]>
      %t = gir.load %from : !gir.slice<dram, f32, [4, 4]> -> !gir.tile<vec, f32, [4, 4]>
      %r = gir.transpose %t : !gir.tile<vec, f32, [4, 4]>
      %to = gir.slice %y[%col, %row] rows(0) cols(1) : !gir.view<dram, f32, [N, M]> -> !gir.slice<dram, f32, [4, 4]>
      gir.store %r, %to : !gir.tile<vec, f32, [4, 4]>, !gir.slice<dram, f32, [4, 4]>
    }
  }
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
