// A row to a workgroup: its maximum, then the sum of what becomes of it, then the quotients. Lanes reduce among themselves,
// subgroups through memory of the workgroup.
module attributes {gpu.container_module} {
  gpu.module @softmax {
    llvm.mlir.global internal @slots() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<256 x f32>
    gpu.func @softmax(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %M: i64, %N: i64) kernel
        attributes {known_block_size = array<i32: 256, 1, 1>} {
      %lowest = arith.constant 0xFF800000 : f32
      %zero = arith.constant 0.0 : f32
      %one = arith.constant 1 : i32
      %none = arith.constant 0 : index
      %block = arith.constant 256 : i64
      %tid = gpu.thread_id x
      %row = gpu.block_id x
      %rows = gpu.grid_dim x
      %lane = gpu.lane_id
      %subgroup = gpu.subgroup_id : index
      %size = gpu.subgroup_size : index
      %width = arith.index_cast %size : index to i32
      %t = arith.index_cast %tid : index to i64
      %bd = gpu.block_dim x
      %count = arith.ceildivui %bd, %size : index
      %leader = arith.cmpi eq, %lane, %none : index
      %slots = llvm.mlir.addressof @slots : !llvm.ptr<3>
      %own = arith.index_cast %subgroup : index to i64
      %slot = llvm.getelementptr %slots[%own] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
      %groups = arith.index_cast %M : i64 to index
      scf.for %g = %row to %groups step %rows {
        %gi = arith.index_cast %g : index to i64
        %start = arith.muli %gi, %N : i64
        %px = llvm.getelementptr %x[%start] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
        %py = llvm.getelementptr %y[%start] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
        %max = scf.for %i = %t to %N step %block iter_args(%acc = %lowest) -> (f32) : i64 {
          %p = llvm.getelementptr %px[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
          %v = llvm.load %p : !llvm.ptr<1> -> f32
          %m = arith.maximumf %acc, %v : f32
          scf.yield %m : f32
        }
        %max_lanes:2 = scf.while (%acc = %max, %off = %one) : (f32, i32) -> (f32, i32) {
          %more = arith.cmpi ult, %off, %width : i32
          scf.condition(%more) %acc, %off : f32, i32
        } do {
        ^bb0(%acc: f32, %off: i32):
          %other, %valid = gpu.shuffle xor %acc, %off, %width : f32
          %m = arith.maximumf %acc, %other : f32
          %next = arith.shli %off, %one : i32
          scf.yield %m, %next : f32, i32
        }
        scf.if %leader {
          llvm.store %max_lanes#0, %slot : f32, !llvm.ptr<3>
        }
        gpu.barrier
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %row_max = scf.for %i = %c0 to %count step %c1 iter_args(%acc = %lowest) -> (f32) {
          %k = arith.index_cast %i : index to i64
          %p = llvm.getelementptr %slots[%k] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
          %v = llvm.load %p : !llvm.ptr<3> -> f32
          %m = arith.maximumf %acc, %v : f32
          scf.yield %m : f32
        }
        gpu.barrier
        %sum = scf.for %i = %t to %N step %block iter_args(%acc = %zero) -> (f32) : i64 {
          %p = llvm.getelementptr %px[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
          %q = llvm.getelementptr %py[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
          %v = llvm.load %p : !llvm.ptr<1> -> f32
          %d = arith.subf %v, %row_max : f32
          %e = math.exp %d : f32
          llvm.store %e, %q : f32, !llvm.ptr<1>
          %s = arith.addf %acc, %e : f32
          scf.yield %s : f32
        }
        %sum_lanes:2 = scf.while (%acc = %sum, %off = %one) : (f32, i32) -> (f32, i32) {
          %more = arith.cmpi ult, %off, %width : i32
          scf.condition(%more) %acc, %off : f32, i32
        } do {
        ^bb0(%acc: f32, %off: i32):
          %other, %valid = gpu.shuffle xor %acc, %off, %width : f32
          %m = arith.addf %acc, %other : f32
          %next = arith.shli %off, %one : i32
          scf.yield %m, %next : f32, i32
        }
        scf.if %leader {
          llvm.store %sum_lanes#0, %slot : f32, !llvm.ptr<3>
        }
        gpu.barrier
        %row_sum = scf.for %i = %c0 to %count step %c1 iter_args(%acc = %zero) -> (f32) {
          %k = arith.index_cast %i : index to i64
          %p = llvm.getelementptr %slots[%k] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
          %v = llvm.load %p : !llvm.ptr<3> -> f32
          %s = arith.addf %acc, %v : f32
          scf.yield %s : f32
        }
        gpu.barrier
        scf.for %i = %t to %N step %block : i64 {
          %q = llvm.getelementptr %py[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
          %e = llvm.load %q : !llvm.ptr<1> -> f32
          %r = arith.divf %e, %row_sum : f32
          llvm.store %r, %q : f32, !llvm.ptr<1>
        }
      }
      gpu.return
    }
  }
}
