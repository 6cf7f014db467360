// RUN: sutura-opt %s --convert-gir-to-cpu=vector-bytes=16 | FileCheck %s

!row = !gir.view<dram, f32, [1, N]>
!tile = !gir.tile<vec, f32, [1, 8]>

// Lanes are counted in 32 bits, as wide as the elements: for each vector how many of its lanes come before the end.
// CHECK-LABEL: func.func @tail(
// CHECK-DAG: %[[LANES:.*]] = arith.constant dense<[0, 1, 2, 3]> : vector<4xi32>
// CHECK-NOT: vector<4xi64>
// CHECK: %[[SOME:.*]] = arith.maxsi %{{.*}}, %{{.*}} : i64
// CHECK: %[[COUNT:.*]] = arith.minsi %[[SOME]], %{{.*}} : i64
// CHECK: %[[NARROW:.*]] = arith.trunci %[[COUNT]] : i64 to i32
// CHECK: %[[END:.*]] = vector.broadcast %[[NARROW]] : i32 to vector<4xi32>
// CHECK: %[[MASK:.*]] = arith.cmpi slt, %[[LANES]], %[[END]] : vector<4xi32>
// CHECK: llvm.intr.masked.load %{{.*}}, %[[MASK]]
// CHECK-NOT: vector<4xi64>
gir.kernel @tail(%x : !row in, %y : !row out) dims(%N : [0, 1000]) grid(%i = (N + 7) floordiv 8) units(1) {
  %zero = arith.constant 0 : index
  %at = gir.index affine_map<(d0) -> (8 * d0)>(%i)
  %from = gir.slice %x[%zero, %at] cols(1) : !row -> !gir.slice<dram, f32, [1, 8]>
  %t = gir.load %from pad(0.0 : f32) : !gir.slice<dram, f32, [1, 8]> -> !tile
  %to = gir.slice %y[%zero, %at] cols(1) : !row -> !gir.slice<dram, f32, [1, 8]>
  gir.store %t, %to : !tile, !gir.slice<dram, f32, [1, 8]>
}
