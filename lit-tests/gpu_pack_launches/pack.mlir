// RUN: sutura-opt %s --gpu-pack-launches | FileCheck %s
// RUN: sutura-opt %s --gpu-pack-launches --convert-rt-to-llvm | FileCheck %s --check-prefix=HOST
// RUN: sutura-opt %s --gpu-pack-launches --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// One kernel has the buffers of all, then the sizes, then how many blocks come before each part but the first. The second part
// begins where the first one's groups end, and goes around.
// CHECK-LABEL: gpu.module @kernels
// CHECK-NOT:   @negates
// CHECK-NOT:   @doubles
// CHECK:       gpu.func @packed0(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %[[Y:[a-z0-9]+]]: !llvm.ptr<1> {llvm.noalias}, %[[Z:[a-z0-9]+]]: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %[[W:[a-z0-9]+]]: !llvm.ptr<1> {llvm.noalias}, %[[M:[a-z0-9]+]]: i64, %[[N:[a-z0-9]+]]: i64, %[[FIRST:[a-z0-9]+]]: i64) kernel
// CHECK-SAME:    known_block_size = array<i32: 32, 1, 1>
// CHECK-SAME:    rt.groups_of_block = 1 : i64
// CHECK-SAME:    dims = [{div = 1 : i64, max = 100 : i64, min = 0 : i64, name = "M_0"}, {div = 1 : i64, max = 100 : i64, min = 0 : i64, name = "first_1"}, {div = 1 : i64, max = 9223372036854775807 : i64, min = 0 : i64, name = "first1"}]
// CHECK-SAME:    grid = #dyn.shape<[(first_1 + 1) floordiv 2 + (M_0 + 3) floordiv 4]>
// CHECK-SAME:    rt.parts = ["negates", "doubles"]
// CHECK-NEXT:  %[[ID:.+]] = gpu.block_id x
// CHECK-NEXT:  %[[I:.+]] = arith.index_cast %[[ID]] : index to i64
// CHECK-NEXT:  %[[A:.+]] = llvm.getelementptr %[[X]][%[[I]]]
// CHECK:       llvm.store %{{.*}}, %{{.*}} : f32, !llvm.ptr<1>
// CHECK:       %[[BLOCK:.+]] = arith.index_cast %{{.+}} : index to i64
// CHECK:       %[[BLOCKS:.+]] = arith.index_cast %{{.+}} : index to i64
// CHECK-NEXT:  %[[BEHIND:.+]] = arith.remui %[[FIRST]], %[[BLOCKS]] : i64
// CHECK-NEXT:  %[[AHEAD:.+]] = arith.subi %[[BLOCK]], %[[BEHIND]] : i64
// CHECK-NEXT:  %[[AROUND:.+]] = arith.addi %[[AHEAD]], %[[BLOCKS]] : i64
// CHECK:       %[[WRAPS:.+]] = arith.cmpi slt, %[[AHEAD]], %{{.+}} : i64
// CHECK-NEXT:  %[[NUMBER:.+]] = arith.select %[[WRAPS]], %[[AROUND]], %[[AHEAD]] : i64
// CHECK-NEXT:  %[[INDEX:.+]] = arith.index_cast %[[NUMBER]] : i64 to index
// CHECK:       %[[J:.+]] = arith.index_cast %[[INDEX]] : index to i64
// CHECK-NEXT:  llvm.getelementptr %[[Z]][%[[J]]]
// CHECK:       gpu.return
// The same kernels at another place are the same kernel; a kernel alone stays what it is.
// CHECK:       gpu.func @alone(
// CHECK-LABEL: rt.program @main
// CHECK:         launch @kernels::@packed0(%x, %y, %k, %z) dims [M, K, (M + 3) floordiv 4]
// CHECK-NEXT:    launch @kernels::@packed0(%z, %w, %y, %v) dims [K, M, (K + 3) floordiv 4]
// CHECK-NEXT:    launch @kernels::@alone(%y, %u) dims [M]

// HOST: kernels = [{groups_of_block = 1 : i64, ops = [], parts = ["negates", "doubles"], symbol = "packed0"}, {groups_of_block = 4 : i64, ops = [], symbol = "alone"}]

// REMARK: remark: @negates, @doubles are launched together, as @packed0
gpu.module @kernels {
  gpu.func @negates(%x: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %y: !llvm.ptr<1> {llvm.noalias}, %m: i64) kernel attributes {
      known_block_size = array<i32: 32, 1, 1>, rt.groups_of_block = 4 : i64,
      rt.kernel = {dims = [{div = 1 : i64, max = 100 : i64, min = 0 : i64, name = "M"}], grid = #dyn.shape<[M]>, modes = ["in", "out"], params = [!rt.buffer<f32, [M]>, !rt.buffer<f32, [M]>], requires = #dyn.shape<[]>}} {
    %id = gpu.block_id x
    %i = arith.index_cast %id : index to i64
    %from = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %a = llvm.load %from : !llvm.ptr<1> -> f32
    %n = arith.negf %a : f32
    %to = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    llvm.store %n, %to : f32, !llvm.ptr<1>
    gpu.return
  }
  gpu.func @doubles(%x: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %y: !llvm.ptr<1> {llvm.noalias}, %m: i64) kernel attributes {
      known_block_size = array<i32: 32, 1, 1>, rt.groups_of_block = 2 : i64,
      rt.kernel = {dims = [{div = 1 : i64, max = 100 : i64, min = 0 : i64, name = "first"}], grid = #dyn.shape<[first]>, modes = ["in", "out"], params = [!rt.buffer<f32, [first]>, !rt.buffer<f32, [first]>], requires = #dyn.shape<[]>}} {
    %id = gpu.block_id x
    %i = arith.index_cast %id : index to i64
    %from = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %a = llvm.load %from : !llvm.ptr<1> -> f32
    %n = arith.addf %a, %a : f32
    %to = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    llvm.store %n, %to : f32, !llvm.ptr<1>
    gpu.return
  }
  gpu.func @alone(%x: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %y: !llvm.ptr<1> {llvm.noalias}, %m: i64) kernel attributes {
      known_block_size = array<i32: 32, 1, 1>, rt.groups_of_block = 4 : i64,
      rt.kernel = {dims = [{div = 1 : i64, max = 100 : i64, min = 0 : i64, name = "M"}], grid = #dyn.shape<[M]>, modes = ["in", "out"], params = [!rt.buffer<f32, [M]>, !rt.buffer<f32, [M]>], requires = #dyn.shape<[]>}} {
    %id = gpu.block_id x
    %i = arith.index_cast %id : index to i64
    %from = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %a = llvm.load %from : !llvm.ptr<1> -> f32
    %n = arith.negf %a : f32
    %to = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    llvm.store %n, %to : f32, !llvm.ptr<1>
    gpu.return
  }
}

rt.program @main(%x : !rt.buffer<f32, [M]> in "x", %k : !rt.buffer<f32, [K]> in "k", %y : !rt.buffer<f32, [M]> out "y", %z : !rt.buffer<f32, [K]> out "z", %w : !rt.buffer<f32, [K]> out "w", %v : !rt.buffer<f32, [M]> out "v", %u : !rt.buffer<f32, [M]> out "u")
    symbols(M : [0, 100], K : [0, 100]) {
  packed {
    launch @kernels::@negates(%x, %y) dims [M] : !rt.buffer<f32, [M]>, !rt.buffer<f32, [M]>
    launch @kernels::@doubles(%k, %z) dims [K] : !rt.buffer<f32, [K]>, !rt.buffer<f32, [K]>
  }
  packed {
    launch @kernels::@negates(%z, %w) dims [K] : !rt.buffer<f32, [K]>, !rt.buffer<f32, [K]>
    launch @kernels::@doubles(%y, %v) dims [M] : !rt.buffer<f32, [M]>, !rt.buffer<f32, [M]>
  }
  launch @kernels::@alone(%y, %u) dims [M] : !rt.buffer<f32, [M]>, !rt.buffer<f32, [M]>
}
