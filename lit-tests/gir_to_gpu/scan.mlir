// Running sums over the columns that threads of a unit have: within a thread, within a subgroup at distances of 1, 2, 4, …, and
// beyond it through the block's memory. All threads stay in the loop to its end.
// RUN: sutura-opt %s --convert-gir-to-gpu="threads=16 subgroup=8" | FileCheck %s

// CHECK-LABEL: llvm.mlir.global internal @long_shared0() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<2 x f32>
// CHECK-LABEL: gpu.func @long(
// CHECK: scf.for {{.*}} iter_args(%[[CARRY:.+]] = %{{.+}}) -> (vector<4xf32>)
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [4, 0, 1, 2] : vector<4xf32>, vector<4xf32>
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [4, 4, 0, 1] : vector<4xf32>, vector<4xf32>
// CHECK: %[[OWN:.+]] = vector.extract %{{.*}}[3] : f32 from vector<4xf32>
// CHECK: gpu.shuffle up %[[OWN]], %c1_i32{{.*}}, %c8_i32{{.*}} : f32
// CHECK: gpu.shuffle up %{{.*}}, %c2_i32{{.*}}, %c8_i32{{.*}} : f32
// CHECK: gpu.shuffle up %{{.*}}, %c4_i32{{.*}}, %c8_i32{{.*}} : f32
// CHECK: gpu.shuffle up %{{.*}}, %c1_i32{{.*}}, %c8_i32{{.*}} : f32
// CHECK: gpu.shuffle idx %{{.*}}, %c7_i32{{.*}}, %c8_i32{{.*}} : f32
// CHECK: gpu.barrier
// CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK: scf.for {{.*}} -> (f32, f32)
gir.kernel @long(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 9], %N : [0, 100000]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %in = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %in : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %s = gir.scan "add" "cols" %t : !gir.tile<l1, f32, [1, N]>
  %out = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %s, %out : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

// From the last column to the first, of 64 bits, which change threads in halves.
// CHECK-LABEL: gpu.func @back(
// CHECK: gpu.shuffle down %{{.*}}, %c1_i32{{.*}}, %c8_i32{{.*}} : i32
// CHECK: gpu.shuffle idx %{{.*}}, %c0_i32{{.*}}, %c8_i32{{.*}} : i32
gir.kernel @back(%x : !gir.view<dram, i64, [M, N]> in, %y : !gir.view<dram, i64, [M, N]> out)
    dims(%M : [0, 9], %N : [0, 100000]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %in = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, i64, [M, N]> -> !gir.slice<dram, i64, [1, N]>
  %t = gir.load %in : !gir.slice<dram, i64, [1, N]> -> !gir.tile<l1, i64, [1, N]>
  %s = gir.scan "addi" "cols" %t {exclusive, reverse} : !gir.tile<l1, i64, [1, N]>
  %out = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, i64, [M, N]> -> !gir.slice<dram, i64, [1, N]>
  gir.store %s, %out : !gir.tile<l1, i64, [1, N]>, !gir.slice<dram, i64, [1, N]>
}
