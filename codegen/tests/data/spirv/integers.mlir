// Every operation on integers, of every width, into one number for each invocation.
module attributes {gpu.container_module} {
  gpu.module @integers {
    gpu.func @mixed(%x: !llvm.ptr<1>, %out: !llvm.ptr<1>, %n: i64, %m: i32) kernel
        attributes {known_block_size = array<i32: 32, 2, 1>} {
      %tid = gpu.thread_id x
      %tidy = gpu.thread_id y
      %gz = gpu.grid_dim z
      %i = arith.index_cast %tid : index to i64
      %j = arith.index_castui %tidy : index to i32
      %p = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
      %a = llvm.load %p : !llvm.ptr<1> -> i32
      %c3 = arith.constant 3 : i32
      %0 = arith.divsi %a, %c3 : i32
      %1 = arith.remsi %a, %c3 : i32
      %2 = arith.divui %a, %m : i32
      %3 = arith.remui %a, %m : i32
      %4 = arith.floordivsi %a, %c3 : i32
      %5 = arith.ceildivsi %a, %c3 : i32
      %6 = arith.ceildivui %a, %c3 : i32
      %7 = arith.minsi %0, %1 : i32
      %8 = arith.maxui %2, %3 : i32
      %9:2 = arith.mulsi_extended %4, %5 : i32
      %10:2 = arith.mului_extended %6, %7 : i32
      %11, %carry = arith.addui_extended %8, %9#1 : i32, i1
      %12 = math.ctlz %10#1 : i32
      %13 = math.cttz %11 : i32
      %14 = math.ctpop %a : i32
      %15 = arith.xori %12, %13 : i32
      %16 = arith.ori %15, %14 : i32
      %17 = math.absi %16 : i32
      %w = arith.extsi %17 : i32 to i64
      %w1:2 = arith.mulsi_extended %w, %n : i64
      %w2:2 = arith.mului_extended %w, %n : i64
      %w3 = math.ctlz %w1#1 : i64
      %w4 = math.cttz %w2#1 : i64
      %w5 = math.ctpop %w : i64
      %w6 = arith.addi %w3, %w4 : i64
      %w7 = arith.addi %w5, %w6 : i64
      %s = arith.trunci %w7 : i64 to i16
      %s1:2 = arith.mulsi_extended %s, %s : i16
      %s2 = math.ctlz %s1#0 : i16
      %b = arith.trunci %s2 : i16 to i8
      %b1 = math.cttz %b : i8
      %b2 = arith.extui %b1 : i8 to i32
      %odd = arith.trunci %b2 : i32 to i1
      %both = arith.andi %odd, %carry : i1
      %less = arith.cmpi slt, %both, %odd : i1
      %bit = arith.extui %less : i1 to i32
      %sign = arith.extsi %both : i1 to i32
      %r = arith.addi %bit, %sign : i32
      %r1 = arith.addi %r, %b2 : i32
      %r2 = arith.shli %r1, %j : i32
      %r3 = arith.shrsi %r2, %c3 : i32
      %r4 = arith.shrui %r3, %c3 : i32
      %v = vector.from_elements %r1, %r2, %r3, %r4 : vector<4xi32>
      %four = arith.constant 4 : index
      %k = arith.remui %tid, %four : index
      %e = vector.extract %v[%k] : i32 from vector<4xi32>
      %v1 = vector.insert %e, %v [%k] : i32 into vector<4xi32>
      %v2 = vector.shuffle %v, %v1 [0, 5, -1, 7] : vector<4xi32>, vector<4xi32>
      %v3 = vector.shuffle %v, %v1 [6] : vector<4xi32>, vector<4xi32>
      %one = vector.extract %v3[0] : i32 from vector<1xi32>
      %b4 = vector.broadcast %one : i32 to vector<4xi32>
      %v4 = arith.addi %v2, %b4 : vector<4xi32>
      %f = arith.sitofp %v4 : vector<4xi32> to vector<4xf32>
      %big = arith.cmpi ugt, %v4, %v : vector<4xi32>
      %t = arith.fptosi %f : vector<4xf32> to vector<4xi32>
      %v5 = arith.select %big, %t, %v4 : vector<4xi1>, vector<4xi32>
      %v6 = arith.select %odd, %v5, %v4 : vector<4xi32>
      %q = llvm.getelementptr %out[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, vector<4xi32>
      llvm.store %v6, %q : vector<4xi32>, !llvm.ptr<1>
      %lane = gpu.lane_id
      %l = arith.index_cast %lane : index to i32
      %width = arith.constant 8 : i32
      %u, %uv = gpu.shuffle up %w, %c3, %width : i64
      %d, %dv = gpu.shuffle down %r, %c3, %width : i32
      %x1, %xv = gpu.shuffle idx %s, %l, %width : i16
      %ok = arith.ori %uv, %dv : i1
      %ok1 = arith.ori %ok, %xv : i1
      %z = arith.extui %x1 : i16 to i64
      %z1 = arith.addi %u, %z : i64
      %d64 = arith.extsi %d : i32 to i64
      %z2 = arith.select %ok1, %z1, %d64 : i64
      llvm.store %z2, %q {alignment = 8 : i64} : i64, !llvm.ptr<1>
      gpu.return
    }
  }
}
