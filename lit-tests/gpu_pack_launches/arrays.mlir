// RUN: sutura-opt %s --gpu-pack-launches | FileCheck %s

// Threads wait before a part that has an array of an earlier one: others may still read there.
// CHECK-LABEL: gpu.func @packed0(
// CHECK:       llvm.mlir.addressof @of_a : !llvm.ptr<3>
// CHECK-NOT:   gpu.barrier
// CHECK:       llvm.mlir.addressof @of_b : !llvm.ptr<3>
// CHECK:       gpu.barrier
// CHECK:       llvm.mlir.addressof @of_a : !llvm.ptr<3>
// CHECK-NOT:   gpu.barrier
// CHECK:       gpu.return
gpu.module @kernels {
  llvm.mlir.global internal @of_a() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<4 x f32>
  llvm.mlir.global internal @of_b() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<4 x f32>
  gpu.func @a(%x: !llvm.ptr<1>, %m: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>, rt.groups_of_block = 1 : i64, rt.kernel = {dims = [{div = 1 : i64, max = 100 : i64, min = 0 : i64, name = "M"}], grid = #dyn.shape<[M]>, modes = ["out"], params = [!rt.buffer<f32, [M]>], requires = #dyn.shape<[]>}} {
    %s = llvm.mlir.addressof @of_a : !llvm.ptr<3>
    gpu.return
  }
  gpu.func @b(%x: !llvm.ptr<1>, %m: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>, rt.groups_of_block = 1 : i64, rt.kernel = {dims = [{div = 1 : i64, max = 100 : i64, min = 0 : i64, name = "M"}], grid = #dyn.shape<[M]>, modes = ["out"], params = [!rt.buffer<f32, [M]>], requires = #dyn.shape<[]>}} {
    %s = llvm.mlir.addressof @of_b : !llvm.ptr<3>
    gpu.return
  }
}
rt.program @main(%s : !rt.buffer<i1, [M]> in "s", %x : !rt.buffer<f32, [M]> out "x", %y : !rt.buffer<f32, [M]> out "y", %z : !rt.buffer<f32, [M]> out "z") symbols(M : [0, 100]) {
  packed {
    launch @kernels::@a(%x) dims [M] : !rt.buffer<f32, [M]>
    launch @kernels::@b(%y) dims [M] : !rt.buffer<f32, [M]>
    launch @kernels::@a(%z) dims [M] : !rt.buffer<f32, [M]>
  }
}
