// Rows that become columns: elements change threads through the block's memory, whose rows are one element longer than the
// tile's, so that neighbouring threads read from different banks.
// RUN: sutura-opt %s --convert-gir-to-gpu="threads=32" --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: llvm.mlir.global internal @turned_shared0() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<272 x f32>
// CHECK-LABEL: gpu.func @turned(
// CHECK-SAME:    known_block_size = array<i32: 32, 1, 1>
// A row of 16 columns is for 16 threads, a column each.
// CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> vector<1xf32>
// CHECK: gpu.barrier
// Threads behind the last column have nothing to store.
// CHECK: %[[HAS:.+]] = arith.cmpi slt, %{{.*}}, %c16_i64{{.*}} : i64
// CHECK: scf.if %[[HAS]]
// CHECK: %[[AT:.+]] = arith.addi %c17_i64{{.*}}, %{{.*}} : i64
// CHECK: llvm.getelementptr %{{.*}}[%[[AT]]] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
// CHECK: gpu.barrier
// CHECK: %[[ROW:.+]] = arith.minsi %{{.*}}, %c15_i64{{.*}} : i64
// CHECK: arith.muli %[[ROW]], %c17_i64{{.*}} : i64
// CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> f32
gir.kernel @turned(%x : !gir.view<dram, f32, [16, 16]> in, %y : !gir.view<dram, f32, [16, 16]> out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [16, 16]> -> !gir.slice<dram, f32, [16, 16]>
  %t = gir.load %from : !gir.slice<dram, f32, [16, 16]> -> !gir.tile<vec, f32, [16, 16]>
  %r = gir.transpose %t : !gir.tile<vec, f32, [16, 16]>
  %to = gir.slice %y[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [16, 16]> -> !gir.slice<dram, f32, [16, 16]>
  gir.store %r, %to : !gir.tile<vec, f32, [16, 16]>, !gir.slice<dram, f32, [16, 16]>
}

// -----

gir.kernel @too_much(%x : !gir.view<dram, f32, [128, 128]> in, %y : !gir.view<dram, f32, [128, 128]> out) dims() grid() units(1) {
  // expected-note@-1 {{in kernel @too_much}}
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [128, 128]> -> !gir.slice<dram, f32, [128, 128]>
  %t = gir.load %from : !gir.slice<dram, f32, [128, 128]> -> !gir.tile<vec, f32, [128, 128]>
  // expected-error@+1 {{needs more memory than a block has, to transpose a tile of 128 x 128}}
  %r = gir.transpose %t : !gir.tile<vec, f32, [128, 128]>
  %to = gir.slice %y[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [128, 128]> -> !gir.slice<dram, f32, [128, 128]>
  gir.store %r, %to : !gir.tile<vec, f32, [128, 128]>, !gir.slice<dram, f32, [128, 128]>
}
