// y[i] = max(x[i] * 2 + y[i], 0), four at a time and the rest one by one.
module attributes {gpu.container_module} {
  gpu.module @elementwise {
    gpu.func @axpy(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %n: i64) kernel
        attributes {known_block_size = array<i32: 64, 1, 1>} {
      %two = arith.constant dense<2.0> : vector<4xf32>
      %zero = arith.constant dense<0.0> : vector<4xf32>
      %two1 = arith.constant 2.0 : f32
      %zero1 = arith.constant 0.0 : f32
      %c4 = arith.constant 4 : i64
      %tid = gpu.thread_id x
      %bid = gpu.block_id x
      %bdim = gpu.block_dim x
      %first = arith.muli %bid, %bdim : index
      %at = arith.addi %first, %tid : index
      %i = arith.index_cast %at : index to i64
      %begin = arith.muli %i, %c4 : i64
      %end = arith.addi %begin, %c4 : i64
      %whole = arith.cmpi sle, %end, %n : i64
      %px = llvm.getelementptr %x[%begin] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %py = llvm.getelementptr %y[%begin] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      scf.if %whole {
        %a = llvm.load %px {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
        %b = llvm.load %py {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
        %m = arith.mulf %a, %two : vector<4xf32>
        %s = arith.addf %m, %b : vector<4xf32>
        %r = arith.maximumf %s, %zero : vector<4xf32>
        llvm.store %r, %py {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
      } else {
        %c1 = arith.constant 1 : i64
        scf.for %j = %begin to %n step %c1 : i64 {
          %qx = llvm.getelementptr %x[%j] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
          %qy = llvm.getelementptr %y[%j] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
          %a = llvm.load %qx : !llvm.ptr<1> -> f32
          %b = llvm.load %qy : !llvm.ptr<1> -> f32
          %m = arith.mulf %a, %two1 : f32
          %s = arith.addf %m, %b : f32
          %r = arith.maximumf %s, %zero1 : f32
          llvm.store %r, %qy : f32, !llvm.ptr<1>
        }
      }
      gpu.return
    }
  }
}
