// Each kind of shuffle, each width of value, and whether there is such a lane.
gpu.module @kernels {
  gpu.func @shuffles(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %offset: i32) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %width = arith.constant 32 : i32
    %part = arith.constant 8 : i32
    %one = arith.constant 1 : i32
    %thread = gpu.thread_id x
    %block = gpu.block_id x
    %size = gpu.block_dim x
    %lane = gpu.lane_id
    %subgroup = gpu.subgroup_id : index
    %lanes = gpu.subgroup_size : index
    %first = arith.muli %block, %size : index
    %at = arith.addi %first, %thread : index
    %mixed = arith.addi %lane, %subgroup : index
    %mixed2 = arith.addi %mixed, %lanes : index
    %number = arith.index_cast %at : index to i64
    %number2 = arith.index_cast %mixed2 : index to i64
    %from = llvm.getelementptr %in[%number] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f64
    %f64 = llvm.load %from {alignment = 8 : i64} : !llvm.ptr<1> -> f64
    %f32 = arith.truncf %f64 : f64 to f32
    %f16 = arith.truncf %f64 : f64 to f16
    %i8 = arith.trunci %number : i64 to i8
    %i1 = arith.trunci %number : i64 to i1
    %a, %a_valid = gpu.shuffle xor %f64, %one, %width : f64
    %b, %b_valid = gpu.shuffle up %f32, %offset, %part : f32
    %c, %c_valid = gpu.shuffle down %f16, %one, %part : f16
    %d, %d_valid = gpu.shuffle idx %i8, %offset, %width : i8
    %e, %e_valid = gpu.shuffle idx %i1, %offset, %width : i1
    %f, %f_valid = gpu.shuffle down %number2, %offset, %offset : i64
    gpu.barrier
    %b64 = arith.extf %b : f32 to f64
    %c64 = arith.extf %c : f16 to f64
    %d64 = arith.sitofp %d : i8 to f64
    %e64 = arith.uitofp %e : i1 to f64
    %f_f64 = arith.sitofp %f : i64 to f64
    %b_f64 = arith.uitofp %b_valid : i1 to f64
    %c_f64 = arith.uitofp %c_valid : i1 to f64
    %sum1 = arith.addf %a, %b64 : f64
    %sum2 = arith.addf %sum1, %c64 : f64
    %sum3 = arith.addf %sum2, %d64 : f64
    %sum4 = arith.addf %sum3, %e64 : f64
    %sum5 = arith.addf %sum4, %f_f64 : f64
    %sum6 = arith.addf %sum5, %b_f64 : f64
    %sum7 = arith.addf %sum6, %c_f64 : f64
    %to = llvm.getelementptr %out[%number] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f64
    llvm.store %sum7, %to {alignment = 8 : i64} : f64, !llvm.ptr<1>
    gpu.return
  }
}
