// RUN: sutura-opt %s --gpu-pack-launches | FileCheck %s
// RUN: sutura-opt %s --gpu-pack-launches --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

// A kernel that is launched several times on different buffers stands in the packed one once, in a loop over what it is given. One
// with an array of the block waits before each.
// CHECK-LABEL: gpu.func @packed0(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: !llvm.ptr<1>, %[[Y:[a-z0-9]+]]: !llvm.ptr<1>, %[[Z:[a-z0-9]+]]: !llvm.ptr<1>, %[[W:[a-z0-9]+]]: !llvm.ptr<1>, %[[M:[a-z0-9]+]]: i64, %[[N:[a-z0-9]+]]: i64, %[[K:[a-z0-9]+]]: i64, %[[L:[a-z0-9]+]]: i64, %[[FIRST:[a-z0-9]+]]: i64, %[[SECOND:[a-z0-9]+]]: i64, %[[THIRD:[a-z0-9]+]]: i64) kernel
// CHECK-SAME:    rt.parts = ["writes", "writes", "writes", "other"]
// CHECK:       %[[NONE:.+]] = arith.constant 0 : i64
// CHECK:       %[[COUNT:.+]] = arith.constant 3 : i64
// CHECK:       scf.for %[[PART:[a-z0-9]+]] = %[[NONE]] to %[[COUNT]] step
// CHECK-NEXT:    gpu.barrier
// CHECK:         %[[IS1:.+]] = arith.cmpi eq, %[[PART]], %c1_i64
// CHECK:         %[[IS2:.+]] = arith.cmpi eq, %[[PART]], %c2_i64
// CHECK-NEXT:    %[[F:.+]] = arith.select %[[IS1]], %[[FIRST]], %[[NONE]] : i64
// CHECK-NEXT:    %[[BEFORE:.+]] = arith.select %[[IS2]], %[[SECOND]], %[[F]] : i64
// CHECK-NEXT:    %[[P:.+]] = arith.select %[[IS1]], %[[Y]], %[[X]] : !llvm.ptr<1>
// CHECK-NEXT:    %[[TO:.+]] = arith.select %[[IS2]], %[[Z]], %[[P]] : !llvm.ptr<1>
// CHECK:         arith.remui %[[BEFORE]]
// CHECK:         llvm.mlir.addressof @near
// CHECK-NEXT:    llvm.getelementptr %[[TO]]
// CHECK:       }
// CHECK-NOT:   @near
// CHECK:       arith.remui %[[THIRD]]
// CHECK:       llvm.getelementptr %[[W]]
// CHECK:       gpu.return

// Where no argument has attributes, there is no list of them: the custom form would not have it either.
// GENERIC-NOT: arg_attrs
// GENERIC:     sym_name = "packed0"
gpu.module @kernels {
  llvm.mlir.global internal @near() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<4 x f32>
  gpu.func @writes(%x: !llvm.ptr<1>, %m: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>, rt.groups_of_block = 1 : i64, rt.kernel = {dims = [{div = 1 : i64, max = 100 : i64, min = 0 : i64, name = "M"}], grid = #dyn.shape<[M]>, modes = ["out"], params = [!rt.buffer<f32, [M]>], requires = #dyn.shape<[]>}} {
    %id = gpu.block_id x
    %i = arith.index_cast %id : index to i64
    %s = llvm.mlir.addressof @near : !llvm.ptr<3>
    %to = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %one = arith.constant 1.0 : f32
    llvm.store %one, %to : f32, !llvm.ptr<1>
    gpu.return
  }
  gpu.func @other(%x: !llvm.ptr<1>, %m: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>, rt.groups_of_block = 1 : i64, rt.kernel = {dims = [{div = 1 : i64, max = 100 : i64, min = 0 : i64, name = "M"}], grid = #dyn.shape<[M]>, modes = ["out"], params = [!rt.buffer<f32, [M]>], requires = #dyn.shape<[]>}} {
    %id = gpu.block_id x
    %i = arith.index_cast %id : index to i64
    %to = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %two = arith.constant 2.0 : f32
    llvm.store %two, %to : f32, !llvm.ptr<1>
    gpu.return
  }
}
rt.program @main(%s : !rt.buffer<i1, [M]> in "s", %x : !rt.buffer<f32, [M]> out "x", %y : !rt.buffer<f32, [M]> out "y", %z : !rt.buffer<f32, [M]> out "z", %w : !rt.buffer<f32, [M]> out "w") symbols(M : [0, 100]) {
  packed {
    launch @kernels::@writes(%x) dims [M] : !rt.buffer<f32, [M]>
    launch @kernels::@writes(%y) dims [M] : !rt.buffer<f32, [M]>
    launch @kernels::@writes(%z) dims [M] : !rt.buffer<f32, [M]>
    launch @kernels::@other(%w) dims [M] : !rt.buffer<f32, [M]>
  }
}
