// f16, bf16, i8 and truth values in buffers; a second kernel in the same module, with f64 and vectors in shared memory.
module attributes {gpu.container_module} {
  gpu.module @narrow {
    llvm.mlir.global internal @tile() {addr_space = 3 : i32} : !llvm.array<8 x array<16 x f32>>
    llvm.mlir.global internal @flags() {addr_space = 3 : i32} : !llvm.array<64 x i1>
    gpu.func @halves(%h: !llvm.ptr<1>, %b: !llvm.ptr<1>, %q: !llvm.ptr<1>, %mask: !llvm.ptr<1>) kernel
        attributes {known_block_size = array<i32: 64, 1, 1>} {
      %tid = gpu.thread_id x
      %t = arith.index_cast %tid : index to i64
      %ph = llvm.getelementptr %h[%t] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, vector<4xf16>
      %pb = llvm.getelementptr %b[%t] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, vector<4xbf16>
      %pq = llvm.getelementptr %q[%t] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, vector<4xi8>
      %pm = llvm.getelementptr %mask[%t] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i1
      %vh = llvm.load %ph : !llvm.ptr<1> -> vector<4xf16>
      %vb = llvm.load %pb : !llvm.ptr<1> -> vector<4xbf16>
      %vq = llvm.load %pq : !llvm.ptr<1> -> vector<4xi8>
      %on = llvm.load %pm : !llvm.ptr<1> -> i1
      %fh = arith.extf %vh : vector<4xf16> to vector<4xf32>
      %fb = arith.extf %vb : vector<4xbf16> to vector<4xf32>
      %fq = arith.sitofp %vq : vector<4xi8> to vector<4xf32>
      %s = math.fma %fh, %fb, %fq : vector<4xf32>
      %r = math.roundeven %s : vector<4xf32>
      %f = math.floor %r : vector<4xf32>
      %c = math.ceil %f : vector<4xf32>
      %tr = math.trunc %c : vector<4xf32>
      %sq = math.sqrt %tr : vector<4xf32>
      %ab = math.absf %sq : vector<4xf32>
      %cs = math.copysign %ab, %s : vector<4xf32>
      %mx = arith.maxnumf %cs, %s : vector<4xf32>
      %mi = arith.minimumf %mx, %fh : vector<4xf32>
      %ni = arith.minnumf %mi, %fb : vector<4xf32>
      %un = arith.cmpf uno, %ni, %s : vector<4xf32>
      %ord = arith.cmpf ord, %ni, %s : vector<4xf32>
      %any = arith.ori %un, %ord : vector<4xi1>
      %pick = arith.select %any, %ni, %s : vector<4xi1>, vector<4xf32>
      %oh = arith.truncf %pick : vector<4xf32> to vector<4xf16>
      %ob = arith.truncf %pick : vector<4xf32> to vector<4xbf16>
      %oq = arith.fptosi %pick : vector<4xf32> to vector<4xi8>
      %hmax = arith.maximumf %oh, %vh : vector<4xf16>
      llvm.store %hmax, %ph : vector<4xf16>, !llvm.ptr<1>
      llvm.store %ob, %pb : vector<4xbf16>, !llvm.ptr<1>
      llvm.store %oq, %pq : vector<4xi8>, !llvm.ptr<1>
      %off = arith.cmpi eq, %t, %t : i64
      %now = arith.xori %on, %off : i1
      llvm.store %now, %pm : i1, !llvm.ptr<1>
      %flags = llvm.mlir.addressof @flags : !llvm.ptr<3>
      %pf = llvm.getelementptr %flags[%t] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, i1
      llvm.store %now, %pf : i1, !llvm.ptr<3>
      gpu.barrier
      %first = llvm.load %flags : !llvm.ptr<3> -> i1
      llvm.store %first, %mask : i1, !llvm.ptr<1>
      gpu.return
    }
    gpu.func @doubles(%x: !llvm.ptr<1>, %scale: f64, %count: i32, %w: f16) kernel
        attributes {known_block_size = array<i32: 8, 4, 2>} {
      %tid = gpu.thread_id z
      %t = arith.index_cast %tid : index to i64
      %k = arith.extsi %count : i32 to i64
      %p = llvm.getelementptr %x[%k, %t, 3] : (!llvm.ptr<1>, i64, i64) -> !llvm.ptr<1>, !llvm.array<4 x array<5 x f64>>
      %v = llvm.load %p : !llvm.ptr<1> -> f64
      %wide = arith.extf %w : f16 to f64
      %m = arith.mulf %v, %scale : f64
      %s = arith.subf %m, %wide : f64
      %n = arith.truncf %s : f64 to f32
      %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
      %row = llvm.getelementptr %tile[0, %t] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<8 x array<16 x f32>>
      %cell = llvm.getelementptr %row[%t] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, vector<4xf32>
      %all = vector.broadcast %n : f32 to vector<4xf32>
      llvm.store %all, %cell {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
      gpu.barrier
      %back = llvm.load %cell {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
      %bits = llvm.load %row : !llvm.ptr<3> -> i32
      %e = vector.extract %back[2] : f32 from vector<4xf32>
      %d = arith.extf %e : f32 to f64
      %i = arith.uitofp %bits : i32 to f64
      %r = arith.divf %d, %i : f64
      llvm.store %r, %p : f64, !llvm.ptr<1>
      gpu.return
    }
  }
}
