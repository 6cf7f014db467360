// Launches of kernels of a device: the host program hands over numbers of kernels, and addresses and sizes in one array; copies
// go through the runtime as well.
// RUN: sutura-opt %s --split-input-file --verify-diagnostics --convert-rt-to-llvm | FileCheck %s

gpu.module @kernels {
  gpu.func @negates(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %m: i64) kernel attributes {
      known_block_size = array<i32: 32, 1, 1>, rt.groups_of_block = 4 : i64,
      rt.kernel = {dims = [{div = 1 : i64, max = 100 : i64, min = 0 : i64, name = "M"}], grid = #dyn.shape<[M]>, modes = ["in", "out"], params = [!rt.buffer<f32, [M]>, !rt.buffer<f32, [M]>], requires = #dyn.shape<[]>}} {
    gpu.return
  }
}

// CHECK: kernels = [{groups_of_block = 4 : i64, ops = [], symbol = "negates"}]
// CHECK: func.func @sutura_run(%[[TABLE:[a-z0-9]+]]: !llvm.ptr
// CHECK: %[[WORDS:.+]] = llvm.alloca %{{.*}} x !llvm.ptr
// CHECK: llvm.getelementptr %[[TABLE]][1]
// CHECK: %[[CONTEXT:.+]] = llvm.load
// CHECK: llvm.getelementptr %[[TABLE]][5]
// CHECK-NEXT: %[[LAUNCH:.+]] = llvm.load
// CHECK: llvm.getelementptr %[[TABLE]][6]
// CHECK-NEXT: %[[COPY:.+]] = llvm.load
// Two addresses and a size.
// CHECK: arith.constant 3 : i64
// CHECK: llvm.store %{{.*}}, %[[WORDS]]
// CHECK: llvm.call %[[LAUNCH]](%[[CONTEXT]], %{{.*}}, %[[WORDS]], %{{.*}}, %{{.*}}) : !llvm.ptr, (!llvm.ptr, i64, !llvm.ptr, i64, i64) -> ()
// Launches that may run together are launched one after the other.
// CHECK: llvm.call %[[LAUNCH]](
// CHECK: llvm.call %[[LAUNCH]](
// CHECK: llvm.call %[[COPY]](%[[CONTEXT]], %{{.*}}, %{{.*}}, %{{.*}}) : !llvm.ptr, (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64) -> ()
rt.program @main(%x : !rt.buffer<f32, [M]> in "x", %y : !rt.buffer<f32, [M]> out "y", %z : !rt.buffer<f32, [M]> out "z", %w : !rt.buffer<f32, [M]> out "w", %v : !rt.buffer<f32, [M]> out "v")
    symbols(M : [0, 100]) {
  launch @kernels::@negates(%x, %y) dims [M] : !rt.buffer<f32, [M]>, !rt.buffer<f32, [M]>
  packed {
    launch @kernels::@negates(%x, %z) dims [M] : !rt.buffer<f32, [M]>, !rt.buffer<f32, [M]>
    launch @kernels::@negates(%x, %w) dims [M] : !rt.buffer<f32, [M]>, !rt.buffer<f32, [M]>
  }
  copy %y, %v : !rt.buffer<f32, [M]>, !rt.buffer<f32, [M]>
}

// -----

// A kernel that checks data gets the place of reports behind its buffers, and behind its sizes the number of its first check.
gpu.module @kernels {
  gpu.func @picks(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %r: !llvm.ptr<1>, %m: i64, %first: i64) kernel attributes {
      known_block_size = array<i32: 32, 1, 1>, rt.groups_of_block = 4 : i64,
      rt.kernel = {checks = [{kind = "index", what = "words"}, {kind = "division", what = "mean"}], dims = [{div = 1 : i64, max = 100 : i64, min = 0 : i64, name = "M"}], grid = #dyn.shape<[M]>, modes = ["in", "out"], params = [!rt.buffer<f32, [M]>, !rt.buffer<f32, [M]>], requires = #dyn.shape<[]>}} {
    gpu.return
  }
}

// CHECK: data_checks = [{kind = "index", what = "words"}, {kind = "division", what = "mean"}, {kind = "index", what = "words"}, {kind = "division", what = "mean"}]
// CHECK: func.func @sutura_run(%[[TABLE:[a-z0-9]+]]: !llvm.ptr
// CHECK: %[[WORDS:.+]] = llvm.alloca %{{.*}} x !llvm.ptr
// CHECK: llvm.getelementptr %[[TABLE]][7]
// CHECK-NEXT: %[[REPORTS:.+]] = llvm.load
// CHECK: %[[FIRST:.+]] = arith.constant 0 : i64
// CHECK: llvm.getelementptr %[[WORDS]][2]
// CHECK-NEXT: llvm.store %[[REPORTS]],
// CHECK: llvm.getelementptr %[[WORDS]][4]
// CHECK-NEXT: llvm.store %[[FIRST]],
// CHECK: %[[SECOND:.+]] = arith.constant 2 : i64
// CHECK: llvm.getelementptr %[[WORDS]][4]
// CHECK-NEXT: llvm.store %[[SECOND]],
rt.program @main(%x : !rt.buffer<f32, [M]> in "x", %y : !rt.buffer<f32, [M]> out "y", %z : !rt.buffer<f32, [M]> out "z")
    symbols(M : [0, 100]) {
  launch @kernels::@picks(%x, %y) dims [M] : !rt.buffer<f32, [M]>, !rt.buffer<f32, [M]>
  launch @kernels::@picks(%x, %z) dims [M] : !rt.buffer<f32, [M]>, !rt.buffer<f32, [M]>
}

// -----

gpu.module @kernels {
  // expected-error@+1 {{has no 'rt.groups_of_block', the number of groups that a block takes at a time}}
  gpu.func @negates(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %m: i64) kernel attributes {
      rt.kernel = {dims = [{div = 1 : i64, max = 100 : i64, min = 0 : i64, name = "M"}], grid = #dyn.shape<[M]>, modes = ["in", "out"], params = [!rt.buffer<f32, [M]>, !rt.buffer<f32, [M]>], requires = #dyn.shape<[]>}} {
    gpu.return
  }
}

rt.program @main(%x : !rt.buffer<f32, [M]> in "x", %y : !rt.buffer<f32, [M]> out "y") symbols(M : [0, 100]) {
  launch @kernels::@negates(%x, %y) dims [M] : !rt.buffer<f32, [M]>, !rt.buffer<f32, [M]>
}

// -----

gpu.module @kernels {
  gpu.func @negates(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %m: i64) kernel attributes {rt.groups_of_block = 4 : i64,
      rt.kernel = {dims = [{div = 1 : i64, max = 100 : i64, min = 0 : i64, name = "M"}], grid = #dyn.shape<[M]>, modes = ["in", "out"], params = [!rt.buffer<f32, [M]>, !rt.buffer<f32, [M]>], requires = #dyn.shape<[]>}} {
    gpu.return
  }
}
func.func @here(%bufs: !llvm.ptr, %dims: !llvm.ptr, %begin: i64, %end: i64) attributes {
    rt.kernel = {dims = [{div = 1 : i64, max = 100 : i64, min = 0 : i64, name = "M"}], grid = #dyn.shape<[M]>, modes = ["in", "out"], params = [!rt.buffer<f32, [M]>, !rt.buffer<f32, [M]>], requires = #dyn.shape<[]>}} {
  return
}

// expected-error@+1 {{launches kernels of a device and of the processor}}
rt.program @main(%x : !rt.buffer<f32, [M]> in "x", %y : !rt.buffer<f32, [M]> out "y", %z : !rt.buffer<f32, [M]> out "z") symbols(M : [0, 100]) {
  // expected-note@+1 {{on the device}}
  launch @kernels::@negates(%x, %y) dims [M] : !rt.buffer<f32, [M]>, !rt.buffer<f32, [M]>
  // expected-note@+1 {{on the processor}}
  launch @here(%x, %z) dims [M] : !rt.buffer<f32, [M]>, !rt.buffer<f32, [M]>
}
