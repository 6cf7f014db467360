// What cannot be one kernel stays several launches, and a remark says why.
// RUN: sutura-opt %s --split-input-file --gpu-pack-launches | FileCheck %s
// RUN: sutura-opt %s --split-input-file --gpu-pack-launches --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// CHECK: packed {
// CHECK-NEXT: launch @kernels::@a
// CHECK-NEXT: launch @kernels::@b
// REMARK: remark: @a, @b are launched one after the other: the blocks of @a and @b have different sizes
gpu.module @kernels {
  gpu.func @a(%x: !llvm.ptr<1>, %m: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>, rt.groups_of_block = 1 : i64, rt.kernel = {dims = [{div = 1 : i64, max = 100 : i64, min = 0 : i64, name = "M"}], grid = #dyn.shape<[M]>, modes = ["out"], params = [!rt.buffer<f32, [M]>], requires = #dyn.shape<[]>}} {
    gpu.return
  }
  gpu.func @b(%x: !llvm.ptr<1>, %m: i64) kernel attributes {known_block_size = array<i32: 64, 1, 1>, rt.groups_of_block = 1 : i64, rt.kernel = {dims = [{div = 1 : i64, max = 100 : i64, min = 0 : i64, name = "M"}], grid = #dyn.shape<[M]>, modes = ["out"], params = [!rt.buffer<f32, [M]>], requires = #dyn.shape<[]>}} {
    gpu.return
  }
}
rt.program @main(%s : !rt.buffer<i1, [M]> in "s", %x : !rt.buffer<f32, [M]> out "x", %y : !rt.buffer<f32, [M]> out "y") symbols(M : [0, 100]) {
  packed {
    launch @kernels::@a(%x) dims [M] : !rt.buffer<f32, [M]>
    launch @kernels::@b(%y) dims [M] : !rt.buffer<f32, [M]>
  }
}

// -----

// CHECK: packed {
// REMARK: @a, @a are launched one after the other: @a checks data
gpu.module @kernels {
  gpu.func @a(%x: !llvm.ptr<1>, %r: !llvm.ptr<1>, %m: i64, %first: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>, rt.groups_of_block = 1 : i64, rt.kernel = {checks = [{kind = "index", what = "words"}], dims = [{div = 1 : i64, max = 100 : i64, min = 0 : i64, name = "M"}], grid = #dyn.shape<[M]>, modes = ["out"], params = [!rt.buffer<f32, [M]>], requires = #dyn.shape<[]>}} {
    gpu.return
  }
}
rt.program @main(%s : !rt.buffer<i1, [M]> in "s", %x : !rt.buffer<f32, [M]> out "x", %y : !rt.buffer<f32, [M]> out "y") symbols(M : [0, 100]) {
  packed {
    launch @kernels::@a(%x) dims [M] : !rt.buffer<f32, [M]>
    launch @kernels::@a(%y) dims [M] : !rt.buffer<f32, [M]>
  }
}

// -----

// What both use counts once.
// CHECK: packed {
// REMARK: @a, @b are launched one after the other: their arrays take 40032 bytes of a block's memory, which has 32768
gpu.module @kernels {
  llvm.mlir.global internal @shared() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<5000 x f32>
  llvm.mlir.global internal @more() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<5001 x f32>
  llvm.mlir.global internal @one() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<1 x f32>
  gpu.func @a(%x: !llvm.ptr<1>, %m: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>, rt.groups_of_block = 1 : i64, rt.kernel = {dims = [{div = 1 : i64, max = 100 : i64, min = 0 : i64, name = "M"}], grid = #dyn.shape<[M]>, modes = ["out"], params = [!rt.buffer<f32, [M]>], requires = #dyn.shape<[]>}} {
    %s = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %o = llvm.mlir.addressof @one : !llvm.ptr<3>
    gpu.return
  }
  gpu.func @b(%x: !llvm.ptr<1>, %m: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>, rt.groups_of_block = 1 : i64, rt.kernel = {dims = [{div = 1 : i64, max = 100 : i64, min = 0 : i64, name = "M"}], grid = #dyn.shape<[M]>, modes = ["out"], params = [!rt.buffer<f32, [M]>], requires = #dyn.shape<[]>}} {
    %s = llvm.mlir.addressof @more : !llvm.ptr<3>
    %o = llvm.mlir.addressof @one : !llvm.ptr<3>
    gpu.return
  }
}
rt.program @main(%s : !rt.buffer<i1, [M]> in "s", %x : !rt.buffer<f32, [M]> out "x", %y : !rt.buffer<f32, [M]> out "y") symbols(M : [0, 100]) {
  packed {
    launch @kernels::@a(%x) dims [M] : !rt.buffer<f32, [M]>
    launch @kernels::@b(%y) dims [M] : !rt.buffer<f32, [M]>
  }
}

// -----

// Kernels of the processor are packed when the program is lowered.
// CHECK: packed {
// REMARK: @k, @k are launched one after the other: @k is no kernel of a device
func.func @k(%bufs: !llvm.ptr, %dims: !llvm.ptr, %begin: i64, %end: i64) attributes {rt.kernel = {dims = [{div = 1 : i64, max = 100 : i64, min = 0 : i64, name = "M"}], grid = #dyn.shape<[M]>, modes = ["out"], params = [!rt.buffer<f32, [M]>], requires = #dyn.shape<[]>}} {
  return
}
rt.program @main(%s : !rt.buffer<i1, [M]> in "s", %x : !rt.buffer<f32, [M]> out "x", %y : !rt.buffer<f32, [M]> out "y") symbols(M : [0, 100]) {
  packed {
    launch @k(%x) dims [M] : !rt.buffer<f32, [M]>
    launch @k(%y) dims [M] : !rt.buffer<f32, [M]>
  }
}

// -----

// CHECK: packed {
// REMARK: @a, @a are launched one after the other: @a does not take what it says
gpu.module @kernels {
  gpu.func @a(%x: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 32, 1, 1>, rt.groups_of_block = 1 : i64, rt.kernel = {dims = [{div = 1 : i64, max = 100 : i64, min = 0 : i64, name = "M"}], grid = #dyn.shape<[M]>, modes = ["out"], params = [!rt.buffer<f32, [M]>], requires = #dyn.shape<[]>}} {
    gpu.return
  }
}
rt.program @main(%s : !rt.buffer<i1, [M]> in "s", %x : !rt.buffer<f32, [M]> out "x", %y : !rt.buffer<f32, [M]> out "y") symbols(M : [0, 100]) {
  packed {
    launch @kernels::@a(%x) dims [M] : !rt.buffer<f32, [M]>
    launch @kernels::@a(%y) dims [M] : !rt.buffer<f32, [M]>
  }
}
