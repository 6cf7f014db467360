// Each form is read and written again byte for byte; upstream reads what is written.
// RUN: split-file %s %t
// RUN: sutura-opt %t/in.mlir --discard-value-names > %t/out.mlir
// RUN: diff %t/in.mlir %t/out.mlir
// RUN: sutura-opt %t/in.mlir --mlir-print-op-generic | FileCheck %s
// CHECK: "gpu.func"() <{function_type = (!llvm.ptr<1>, i64) -> (), known_block_size = array<i32: 256, 1, 1>}> ({
// CHECK: "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
// CHECK: "gpu.shuffle"({{.*}}) <{mode = #gpu<shuffle_mode xor>}> : (f32, i32, i32) -> (f32, i1)
// CHECK: }) {gpu.kernel, sym_name = "k", workgroup_attributions = 0 : i64} : () -> ()
//--- in.mlir
module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.mlir.global internal @slots() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<32 x f32>
    gpu.func @k(%arg0: !llvm.ptr<1>, %arg1: i64) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %thread_id_x = gpu.thread_id  x
      %block_id_x = gpu.block_id  x
      %block_dim_y = gpu.block_dim  y upper_bound 7
      %grid_dim_z = gpu.grid_dim  z
      %0 = gpu.lane_id
      %1 = gpu.subgroup_id : index
      %2 = gpu.subgroup_size upper_bound 64 : index
      %c1_i32 = arith.constant 1 : i32
      %c32_i32 = arith.constant 32 : i32
      %3 = llvm.load %arg0 {alignment = 4 : i64} : !llvm.ptr<1> -> f32
      %shuffleResult, %valid = gpu.shuffle  xor %3, %c1_i32, %c32_i32 : f32
      gpu.barrier
      %4 = llvm.mlir.addressof @slots : !llvm.ptr<3>
      llvm.store %shuffleResult, %4 : f32, !llvm.ptr<3>
      gpu.return
    }
    gpu.func @d(%arg0: memref<?xf32>) workgroup(%arg1 : memref<32xf32, 3>) private(%arg2 : memref<1xf32, 5>) {
      gpu.return
    }
  }
}
