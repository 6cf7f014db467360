// What the bounds of values are made of, and what has none.
// RUN: sutura-opt %s --gpu-narrow-indices --canonicalize --cse | FileCheck %s
// RUN: sutura-opt %s --gpu-narrow-indices --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

gpu.module @kernels {
  // Groups are taken in a loop of 64 bits, as nobody says how many blocks there are. The group's number has 32, and all that comes
  // of it. The quotient by %per_row is less than M again.
  // CHECK-LABEL: gpu.func @rows_i32(
  // CHECK-SAME: %[[X:.*]]: !llvm.ptr<1>, %[[M:.*]]: i64, %[[N:.*]]: i64) kernel
  // CHECK-SAME: requires = #dyn.shape<[-M*N - M - N + 2147483136]>
  // CHECK: %[[N32:.*]] = arith.trunci %[[N]] : i64 to i32
  // CHECK: %[[UP:.*]] = arith.addi %[[N32]], %{{.*}} overflow<nsw, nuw> : i32
  // CHECK: %[[TILES:.*]] = arith.divui %[[UP]], %{{.*}} : i32
  // CHECK: scf.for %[[GROUP:.*]] = %{{.*}} to %{{.*}} step %{{.*}} : i64 {
  // CHECK: %[[G:.*]] = arith.trunci %[[GROUP]] : i64 to i32
  // CHECK: %[[TILE:.*]] = arith.remui %[[G]], %[[TILES]] : i32
  // CHECK: %[[ROW:.*]] = arith.divui %[[G]], %[[TILES]] : i32
  // CHECK: %[[START:.*]] = arith.muli %[[ROW]], %[[N32]] overflow<nsw, nuw> : i32
  // CHECK: llvm.getelementptr %[[X]][%[[START]]] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  // CHECK: scf.for %{{.*}} : i32 {
  // CHECK-LABEL: gpu.func @rows(
  // CHECK-NOT: : i32
  // REMARK: arithmetic.mlir:[[#@LINE+1]]:3: remark: kernel @rows has 32-bit indices where -A*B - A - B + 2147483136 is at least 0
  gpu.func @rows(%x: !llvm.ptr<1>, %M: i64, %N: i64) kernel attributes {known_block_size = array<i32: 256, 1, 1>, rt.groups_of_block = 1 : i64, rt.kernel = {params = [!rt.buffer<f32, [M, N]>], modes = ["out"], dims = [{name = "M"}, {name = "N", min = 1}], requires = #dyn.shape<[]>, grid = #dyn.shape<[M, (N + 255) floordiv 256]>}} {
    %c1 = arith.constant 1 : i64
    %c255 = arith.constant 255 : i64
    %c256 = arith.constant 256 : i64
    %one = arith.constant 1.0 : f32
    %thread = gpu.thread_id x
    %t = arith.index_cast %thread : index to i64
    %up = arith.addi %N, %c255 : i64
    %tiles = arith.divsi %up, %c256 : i64
    %groups = arith.muli %M, %tiles : i64
    %block = gpu.block_id x
    %b = arith.index_cast %block : index to i64
    %blocks = gpu.grid_dim x
    %step = arith.index_cast %blocks : index to i64
    scf.for %group = %b to %groups step %step : i64 {
      %tile = arith.remui %group, %tiles : i64
      %row = arith.divui %group, %tiles : i64
      %start = arith.muli %row, %N : i64
      %line = llvm.getelementptr %x[%start] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %from = arith.muli %tile, %c256 : i64
      %own = arith.addi %from, %t : i64
      %wanted = arith.addi %from, %c256 : i64
      %to = arith.minsi %wanted, %N : i64
      scf.for %j = %own to %to step %c256 : i64 {
        %p = llvm.getelementptr %line[%j] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
        llvm.store %one, %p {alignment = 4 : i64} : f32, !llvm.ptr<1>
      }
    }
    gpu.return
  }
  // What is read from memory is unbounded, and so is what is made of it, until something bounds it. The address takes 64 bits.
  // CHECK-LABEL: gpu.func @gathers_i32(
  // CHECK: %[[READ:.*]] = llvm.load %{{.*}} -> i64
  // CHECK: %[[TWICE:.*]] = arith.addi %[[READ]], %[[READ]] : i64
  // CHECK: llvm.getelementptr %{{.*}}[%[[TWICE]]] : (!llvm.ptr<1>, i64)
  // CHECK: %[[LOW:.*]] = arith.maxsi %[[READ]], %{{.*}} : i64
  // CHECK: %[[IN:.*]] = arith.minsi %[[LOW]], %{{.*}} : i64
  // CHECK: %[[INDEX:.*]] = arith.trunci %[[IN]] : i64 to i32
  // CHECK: arith.muli %[[INDEX]], %{{.*}} : i32
  // CHECK-LABEL: gpu.func @gathers(
  // REMARK: kernel @gathers has 32-bit indices where -A*B - A - B + 2147483647 is at least 0
  gpu.func @gathers(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %M: i64, %N: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>, rt.groups_of_block = 1 : i64, rt.kernel = {params = [!rt.buffer<i64, [M, N]>, !rt.buffer<f32, [M, N]>], modes = ["in", "out"], dims = [{name = "M"}, {name = "N"}], requires = #dyn.shape<[]>, grid = #dyn.shape<[]>}} {
    %c0 = arith.constant 0 : i64
    %one = arith.constant 1.0 : f32
    %read = llvm.load %x {alignment = 8 : i64} : !llvm.ptr<1> -> i64
    %twice = arith.addi %read, %read : i64
    %p = llvm.getelementptr %y[%twice] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    llvm.store %one, %p {alignment = 4 : i64} : f32, !llvm.ptr<1>
    %low = arith.maxsi %read, %c0 : i64
    %in = arith.minsi %low, %M : i64
    %start = arith.muli %in, %N : i64
    %q = llvm.getelementptr %y[%start] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    llvm.store %one, %q {alignment = 4 : i64} : f32, !llvm.ptr<1>
    gpu.return
  }

  // Differences may be negative: unsigned division says nothing of them, nor is it right in fewer bits. Results of conditions
  // are joined, a value that a loop carries is left.
  // CHECK-LABEL: gpu.func @signs_i32(
  // CHECK: %[[D:.*]] = arith.subi %{{.*}}, %{{.*}} overflow<nsw> : i32
  // CHECK: %[[WIDE:.*]] = arith.extsi %[[D]] : i32 to i64
  // CHECK: arith.divsi %[[D]], %{{.*}} : i32
  // CHECK: arith.divui %[[WIDE]], %{{.*}} : i64
  // CHECK: arith.select %{{.*}} : i32
  // CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}) -> (i64)
  // CHECK-LABEL: gpu.func @signs(
  // REMARK: kernel @signs has 32-bit indices where -A - B + 2147483646 is at least 0
  gpu.func @signs(%x: !llvm.ptr<1>, %M: i64, %N: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>, rt.groups_of_block = 1 : i64, rt.kernel = {params = [!rt.buffer<f32, [M, N]>], modes = ["out"], dims = [{name = "M"}, {name = "N"}], requires = #dyn.shape<[]>, grid = #dyn.shape<[]>}} {
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %c3 = arith.constant 3 : i64
    %one = arith.constant 1.0 : f32
    %d = arith.subi %M, %N : i64
    %third = arith.divsi %d, %c3 : i64
    %strange = arith.divui %d, %c3 : i64
    %less = arith.cmpi slt, %M, %N : i64
    %either = scf.if %less -> (i64) {
      scf.yield %third : i64
    } else {
      scf.yield %M : i64
    }
    %sum = scf.for %i = %c0 to %M step %c1 iter_args(%s = %strange) -> (i64) : i64 {
      %next = arith.addi %s, %i : i64
      scf.yield %next : i64
    }
    %p = llvm.getelementptr %x[%either] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %q = llvm.getelementptr %p[%sum] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    llvm.store %one, %q {alignment = 4 : i64} : f32, !llvm.ptr<1>
    gpu.return
  }
  // A cast that takes its operand for unsigned keeps 64 bits where that may be below 0: the upper half would be 0.
  // CHECK-LABEL: gpu.func @casts_i32(
  // CHECK: %[[D:.*]] = arith.subi %{{.*}}, %{{.*}} overflow<nsw> : i32
  // CHECK: %[[D64:.*]] = arith.extsi %[[D]] : i32 to i64
  // CHECK: %[[I:.*]] = arith.index_castui %[[D64]] : i64 to index
  // CHECK: arith.index_castui %[[I]] : index to i32
  gpu.func @casts(%x: !llvm.ptr<1>, %M: i64, %N: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>, rt.groups_of_block = 1 : i64, rt.kernel = {params = [!rt.buffer<f32, [M, N]>], modes = ["out"], dims = [{name = "M"}, {name = "N"}], requires = #dyn.shape<[]>, grid = #dyn.shape<[]>}} {
    %one = arith.constant 1.0 : f32
    %d = arith.subi %M, %N : i64
    %i = arith.index_castui %d : i64 to index
    %again = arith.index_castui %i : index to i64
    %e = arith.muli %again, %N : i64
    %p = llvm.getelementptr %x[%e] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    llvm.store %one, %p {alignment = 4 : i64} : f32, !llvm.ptr<1>
    gpu.return
  }
}

rt.program @main(%n : !rt.buffer<i64, [A, B]> in "n", %x : !rt.buffer<f32, [A, B]> out "x", %y : !rt.buffer<f32, [A, B]> out "y", %z : !rt.buffer<f32, [A, B]> out "z", %w : !rt.buffer<f32, [A, B]> out "w") symbols(A : [0, 2147483647], B : [1, 2147483647]) {
  launch @kernels::@rows(%x) dims [A, B] : !rt.buffer<f32, [A, B]>
  launch @kernels::@gathers(%n, %y) dims [A, B] : !rt.buffer<i64, [A, B]>, !rt.buffer<f32, [A, B]>
  launch @kernels::@casts(%w) dims [A, B] : !rt.buffer<f32, [A, B]>
  launch @kernels::@signs(%z) dims [A, B] : !rt.buffer<f32, [A, B]>
}
