// Kernels that keep 64-bit indices, with the reason.
// RUN: sutura-opt %s --gpu-narrow-indices --remarks 2>%t.said | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.said
// RUN: not sutura-opt %s --gpu-narrow-indices="limit=2147483648" 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: 2147483648
// CHECK-NOT: : i32

gpu.module @kernels {
  // REMARK-DAG: kernel @unlaunched keeps 64-bit indices: no program launches it, so that none could choose
  gpu.func @unlaunched(%x: !llvm.ptr<1>, %M: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>, rt.groups_of_block = 1 : i64, rt.kernel = {params = [!rt.buffer<f32, [M, 4]>], modes = ["out"], dims = [{name = "M"}], requires = #dyn.shape<[]>, grid = #dyn.shape<[M]>}} {
    %c4 = arith.constant 4 : i64
    %one = arith.constant 1.0 : f32
    %block = gpu.block_id x
    %b = arith.index_cast %block : index to i64
    %step = gpu.grid_dim x
    %s = arith.index_cast %step : index to i64
    scf.for %i = %b to %M step %s : i64 {
      %at = arith.muli %i, %c4 : i64
      %p = llvm.getelementptr %x[%at] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      llvm.store %one, %p {alignment = 4 : i64} : f32, !llvm.ptr<1>
    }
    gpu.return
  }
  // REMARK-DAG: kernel @silent keeps 64-bit indices: it does not say what sizes it takes
  gpu.func @silent(%x: !llvm.ptr<1>, %M: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>, rt.groups_of_block = 1 : i64} {
    %c4 = arith.constant 4 : i64
    %one = arith.constant 1.0 : f32
    %block = gpu.block_id x
    %b = arith.index_cast %block : index to i64
    %step = gpu.grid_dim x
    %s = arith.index_cast %step : index to i64
    scf.for %i = %b to %M step %s : i64 {
      %at = arith.muli %i, %c4 : i64
      %p = llvm.getelementptr %x[%at] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      llvm.store %one, %p {alignment = 4 : i64} : f32, !llvm.ptr<1>
    }
    gpu.return
  }
  // REMARK-DAG: kernel @taken keeps 64-bit indices: the name @taken_i32 is taken
  gpu.func @taken(%x: !llvm.ptr<1>, %M: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>, rt.groups_of_block = 1 : i64, rt.kernel = {params = [!rt.buffer<f32, [M, 4]>], modes = ["out"], dims = [{name = "M"}], requires = #dyn.shape<[]>, grid = #dyn.shape<[M]>}} {
    %c4 = arith.constant 4 : i64
    %one = arith.constant 1.0 : f32
    %block = gpu.block_id x
    %b = arith.index_cast %block : index to i64
    %step = gpu.grid_dim x
    %s = arith.index_cast %step : index to i64
    scf.for %i = %b to %M step %s : i64 {
      %at = arith.muli %i, %c4 : i64
      %p = llvm.getelementptr %x[%at] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      llvm.store %one, %p {alignment = 4 : i64} : f32, !llvm.ptr<1>
    }
    gpu.return
  }
  gpu.func @taken_i32() {
    gpu.return
  }
  // Two additions are as good in 64 bits.
  // REMARK-DAG: kernel @little keeps 64-bit indices: of those that its sizes bound none is multiplied
  gpu.func @little(%x: !llvm.ptr<1>, %M: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>, rt.groups_of_block = 1 : i64, rt.kernel = {params = [!rt.buffer<f32, [M, 4]>], modes = ["out"], dims = [{name = "M"}], requires = #dyn.shape<[]>, grid = #dyn.shape<[]>}} {
    %one = arith.constant 1.0 : f32
    %thread = gpu.thread_id x
    %t = arith.index_cast %thread : index to i64
    %at = arith.addi %M, %t : i64
    %p = llvm.getelementptr %x[%at] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    llvm.store %one, %p {alignment = 4 : i64} : f32, !llvm.ptr<1>
    gpu.return
  }
  // What is below zero bounds nothing from above.
  // REMARK-DAG: kernel @negative keeps 64-bit indices: of those that its sizes bound none is multiplied, divided or computed in a loop
  gpu.func @negative(%x: !llvm.ptr<1>, %M: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>, rt.groups_of_block = 1 : i64, rt.kernel = {params = [!rt.buffer<f32, [M, 4]>], modes = ["out"], dims = [{name = "M", min = -4}], requires = #dyn.shape<[]>, grid = #dyn.shape<[M]>}} {
    %c4 = arith.constant 4 : i64
    %one = arith.constant 1.0 : f32
    %block = gpu.block_id x
    %b = arith.index_cast %block : index to i64
    %step = gpu.grid_dim x
    %s = arith.index_cast %step : index to i64
    scf.for %i = %b to %M step %s : i64 {
      %at = arith.muli %i, %c4 : i64
      %p = llvm.getelementptr %x[%at] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      llvm.store %one, %p {alignment = 4 : i64} : f32, !llvm.ptr<1>
    }
    gpu.return
  }
}

rt.program @main(%n : !rt.buffer<f32, [A]> in "n", %x : !rt.buffer<f32, [A, 4]> out "x") symbols(A : [0, 2147483647]) {
  // CHECK: launch @kernels::@taken(
  launch @kernels::@taken(%x) dims [A] : !rt.buffer<f32, [A, 4]>
}
