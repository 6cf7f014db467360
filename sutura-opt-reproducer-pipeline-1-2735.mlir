// PIPELINE: builtin.module(convert-graph-to-gir,func.func(symbol-privatize),convert-gpu-to-fibers)
// Which kernel a program launches: guards beside those that are there, none where ranges say enough.
// RUN: sutura-opt %s --gpu-narrow-indices --pass-statistics 2>%t.stats | FileCheck %s
// RUN: FileCheck %s --check-prefix=STATS --input-file=%t.stats
// RUN: sutura-opt %s --gpu-narrow-indices="limit=3999" | FileCheck %s --check-prefix=SMALL
// RUN: sutura-opt %s --pass-pipeline='builtin.module(plan-buffers,gpu-narrow-indices,convert-rt-to-llvm)' | FileCheck %s --check-prefix=HOST

// STATS: (S) 2 num-guarded
// STATS: (S) 2 num-always

// The kernel itself is changed where its own ranges say enough; it is no other where all launches do.
// CHECK: gpu.func @short(
// CHECK: arith.muli {{.*}} : i32
// CHECK-NOT: gpu.func @short_i32
// CHECK: gpu.func @a_i32(
// CHECK-SAME: rt.parts = ["a"]
// CHECK: gpu.func @a(
// CHECK: gpu.func @b_i32(
// CHECK: gpu.func @b(
// CHECK: gpu.func @c_i32(
// CHECK-NOT: gpu.func @c(
// SMALL: gpu.func @short_i32(
// SMALL-NOT: gpu.func @short(
gpu.module @kernels {
  gpu.func @short(%x: !llvm.ptr<1>, %M: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>, rt.groups_of_block = 1 : i64, rt.kernel = {params = [!rt.buffer<f32, [M, 4]>], modes = ["out"], dims = [{name = "M", max = 1000}], requires = #dyn.shape<[]>, grid = #dyn.shape<[M]>}} {
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
  gpu.func @a(%x: !llvm.ptr<1>, %M: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>, rt.groups_of_block = 1 : i64, rt.kernel = {params = [!rt.buffer<f32, [M, 4]>], modes = ["out"], dims = [{name = "M"}], requires = #dyn.shape<[]>, grid = #dyn.shape<[M]>}} {
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
  gpu.func @b(%x: !llvm.ptr<1>, %M: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>, rt.groups_of_block = 1 : i64, rt.kernel = {params = [!rt.buffer<f32, [M, 4]>], modes = ["out"], dims = [{name = "M"}], requires = #dyn.shape<[]>, grid = #dyn.shape<[M]>}} {
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
  gpu.func @c(%x: !llvm.ptr<1>, %M: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>, rt.groups_of_block = 1 : i64, rt.kernel = {params = [!rt.buffer<f32, [M, 4]>], modes = ["out"], dims = [{name = "M"}], requires = #dyn.shape<[]>, grid = #dyn.shape<[M]>}} {
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

// The guard is computed from the sizes of the run, and the launches name kernels by number.
// HOST-LABEL: func.func @sutura_run
// HOST-DAG: arith.constant 2147483647 : i64
// HOST: scf.if

// CHECK-LABEL: rt.program @main
// SMALL-LABEL: rt.program @main
rt.program @main(%n : !rt.buffer<f32, [A]> in "n", %s : !rt.buffer<f32, [S]> in "s", %x : !rt.buffer<f32, [A, 4]> out "x", %y : !rt.buffer<f32, [2*A, 4]> out "y", %z : !rt.buffer<f32, [A, 4]> out "z", %w : !rt.buffer<f32, [S, 4]> out "w", %v : !rt.buffer<f32, [S, 4]> out "v") symbols(A : [0, 2147483647], S : [0, 900]) {
  // CHECK-NEXT: launch @kernels::@short(
  // SMALL-NEXT: launch @kernels::@short_i32(
  launch @kernels::@short(%w) dims [S] : !rt.buffer<f32, [S, 4]>
  // CHECK-NEXT: launch @kernels::@c_i32(
  launch @kernels::@c(%v) dims [S] : !rt.buffer<f32, [S, 4]>
  // CHECK-NEXT: select if [-4*A + 2147483647] {
  // CHECK-NEXT: launch @kernels::@a_i32(
  // CHECK-NEXT: }, {
  // CHECK-NEXT: launch @kernels::@a(
  // CHECK-NEXT: }
  // SMALL: select if [-4*A + 3999] {
  launch @kernels::@a(%x) dims [A] : !rt.buffer<f32, [A, 4]>
  // Launches that run together are chosen together.
  // CHECK-NEXT: select if [-8*A + 2147483647, -4*A + 2147483647] {
  // CHECK-NEXT: packed {
  // CHECK-NEXT: launch @kernels::@a_i32(
  // CHECK-NEXT: launch @kernels::@b_i32(
  // CHECK-NEXT: }
  // CHECK-NEXT: }, {
  // CHECK-NEXT: packed {
  // CHECK-NEXT: launch @kernels::@a(
  // CHECK-NEXT: launch @kernels::@b(
  packed {
    launch @kernels::@a(%y) dims [2*A] : !rt.buffer<f32, [2*A, 4]>
    launch @kernels::@b(%z) dims [A] : !rt.buffer<f32, [A, 4]>
  }
  // The first guard says enough for the first version. What is between versions stays where it is.
  // CHECK: select if [-4*A + 100], [A - 1000000, -4*A + 2147483647], [A - 1000000] {
  // CHECK-NEXT: launch @kernels::@b_i32(
  // CHECK-NEXT: }, {
  // CHECK-NEXT: launch @kernels::@b_i32(
  // CHECK-NEXT: copy %{{.*}}, %{{.*}}
  // CHECK-NEXT: }, {
  // CHECK-NEXT: launch @kernels::@b(
  // CHECK-NEXT: copy %{{.*}}, %{{.*}}
  // CHECK-NEXT: }, {
  // CHECK-NEXT: copy %{{.*}}, %{{.*}}
  // CHECK-NEXT: }
  select if [100 - 4*A], [A - 1000000] {
    launch @kernels::@b(%z) dims [A] : !rt.buffer<f32, [A, 4]>
  }, {
    launch @kernels::@b(%z) dims [A] : !rt.buffer<f32, [A, 4]>
    copy %z, %x : !rt.buffer<f32, [A, 4]>, !rt.buffer<f32, [A, 4]>
  }, {
    copy %x, %z : !rt.buffer<f32, [A, 4]>, !rt.buffer<f32, [A, 4]>
  }
}

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(convert-gpu-to-fibers)",
      disable_threading: false,
      verify_each: true
    }
  }
#-}
