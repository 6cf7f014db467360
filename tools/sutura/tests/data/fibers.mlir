// Kernels with one mistake each, and what they would be without it. Buffers are of f32, and a block has 64 threads.
gpu.module @kernels {
  llvm.mlir.global internal @tile() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<64 x f32>
  llvm.mlir.global internal @more() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<64 x f32>

  // y[t] = x[(t + 1) mod 64], through the block's memory.
  gpu.func @rotate(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %n = arith.constant 64 : i64
    %one = arith.constant 1 : i64
    %tx = gpu.thread_id x
    %t = arith.index_cast %tx : index to i64
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %from = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %v = llvm.load %from : !llvm.ptr<1> -> f32
    %mine = llvm.getelementptr %tile[%t] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
    llvm.store %v, %mine : f32, !llvm.ptr<3>
    gpu.barrier
    %next = arith.addi %t, %one : i64
    %other = arith.remui %next, %n : i64
    %theirs = llvm.getelementptr %tile[%other] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
    %w = llvm.load %theirs : !llvm.ptr<3> -> f32
    %to = llvm.getelementptr %y[%t] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    llvm.store %w, %to : f32, !llvm.ptr<1>
    gpu.return
  }

  // A thread reads what the one before it wrote without a barrier between.
  gpu.func @shared_race(%y: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %n = arith.constant 64 : i64
    %m = arith.constant 63 : i64
    %one = arith.constant 1.0 : f32
    %tx = gpu.thread_id x
    %t = arith.index_cast %tx : index to i64
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %mine = llvm.getelementptr %tile[%t] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
    llvm.store %one, %mine : f32, !llvm.ptr<3>
    %before = arith.addi %t, %m : i64
    %other = arith.remui %before, %n : i64
    %theirs = llvm.getelementptr %tile[%other] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
    %zero = arith.constant 0 : i64
    %not_first = arith.cmpi ne, %t, %zero : i64
    scf.if %not_first {
      %w = llvm.load %theirs : !llvm.ptr<3> -> f32
      %to = llvm.getelementptr %y[%t] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      llvm.store %w, %to : f32, !llvm.ptr<1>
    }
    gpu.return
  }

  // A thread overwrites what another one has read: rotate in place, a barrier short.
  gpu.func @overwrite(%x: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %n = arith.constant 64 : i64
    %one = arith.constant 1 : i64
    %tx = gpu.thread_id x
    %t = arith.index_cast %tx : index to i64
    %next = arith.addi %t, %one : i64
    %other = arith.remui %next, %n : i64
    %theirs = llvm.getelementptr %x[%other] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %w = llvm.load %theirs : !llvm.ptr<1> -> f32
    %mine = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    llvm.store %w, %mine : f32, !llvm.ptr<1>
    gpu.return
  }

  // Neighbouring bytes are no race; the same byte is: writes bytes `stride * t`.
  gpu.func @bytes(%x: !llvm.ptr<1>, %stride: i64) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %b = arith.constant 7 : i8
    %tx = gpu.thread_id x
    %t = arith.index_cast %tx : index to i64
    %at = arith.muli %t, %stride : i64
    %p = llvm.getelementptr %x[%at] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
    llvm.store %b, %p : i8, !llvm.ptr<1>
    gpu.return
  }

  // Each block writes x[block * step], by its first thread, and reads x[0] after, where `reads` is 1.
  gpu.func @blocks(%x: !llvm.ptr<1>, %step: i64, %reads: i1, %v: f32) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %zero = arith.constant 0 : i64
    %bx = gpu.block_id x
    %tx = gpu.thread_id x
    %b = arith.index_cast %bx : index to i64
    %t = arith.index_cast %tx : index to i64
    %first = arith.cmpi eq, %t, %zero : i64
    scf.if %first {
      %at = arith.muli %b, %step : i64
      %p = llvm.getelementptr %x[%at] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      llvm.store %v, %p : f32, !llvm.ptr<1>
      scf.if %reads {
        %r = llvm.load %x : !llvm.ptr<1> -> f32
      }
    }
    gpu.return
  }

  // Every block reads x[0], and the last one writes it.
  gpu.func @late_write(%x: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %one = arith.constant 1 : index
    %b = gpu.block_id x
    %g = gpu.grid_dim x
    %r = llvm.load %x : !llvm.ptr<1> -> f32
    %next = arith.addi %b, %one : index
    %last = arith.cmpi eq, %next, %g : index
    scf.if %last {
      llvm.store %r, %x : f32, !llvm.ptr<1>
    }
    gpu.return
  }

  // Half of the threads wait at one barrier, half at another.
  gpu.func @two_barriers() kernel attributes {known_block_size = array<i32: 8, 4, 2>} {
    %two = arith.constant 2 : index
    %y = gpu.thread_id y
    %low = arith.cmpi ult, %y, %two : index
    scf.if %low {
      gpu.barrier
    } else {
      gpu.barrier
    }
    gpu.return
  }

  // Threads from `from` on do not wait.
  gpu.func @some_wait(%from: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %low = arith.cmpi ult, %t, %from : index
    scf.if %low {
      gpu.barrier
    }
    gpu.return
  }

  // Threads from `from` on hand nothing over.
  gpu.func @some_shuffle(%from: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %o = arith.constant 1 : i32
    %w = arith.constant 32 : i32
    %t = gpu.thread_id x
    %low = arith.cmpi ult, %t, %from : index
    scf.if %low {
      %v = arith.index_cast %t : index to i32
      %r, %ok = gpu.shuffle xor %v, %o, %w : i32
    } else {
      gpu.barrier
    }
    gpu.return
  }

  // Takes values by `offset` in parts of `width` lanes; 20 threads. y has the value and whether it is valid, in turn.
  gpu.func @xor20(%y: !llvm.ptr<1>, %offset: i32, %width: i32) kernel
      attributes {known_block_size = array<i32: 20, 1, 1>} {
    %tx = gpu.thread_id x
    %t = arith.index_cast %tx : index to i32
    %r, %ok = gpu.shuffle xor %t, %offset, %width : i32
    %okw = arith.extui %ok : i1 to i32
    %p = llvm.getelementptr %y[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<2xi32>
    %both = vector.from_elements %r, %okw : vector<2xi32>
    llvm.store %both, %p : vector<2xi32>, !llvm.ptr<1>
    gpu.return
  }

  // The three other modes, on f64, i1 and i16; 64 threads. y has five words for each.
  gpu.func @modes(%y: !llvm.ptr<1>, %offset: i32, %width: i32) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %five = arith.constant 5 : i32
    %sixteen = arith.constant 16 : i32
    %tx = gpu.thread_id x
    %t = arith.index_cast %tx : index to i32
    %d = arith.sitofp %t : i32 to f64
    %b = arith.trunci %t : i32 to i1
    %h = arith.trunci %t : i32 to i16
    %up, %up_ok = gpu.shuffle up %d, %offset, %width : f64
    %down, %down_ok = gpu.shuffle down %h, %offset, %width : i16
    %idx, %idx_ok = gpu.shuffle idx %b, %offset, %width : i1
    %upw = arith.fptosi %up : f64 to i32
    %downw = arith.extui %down : i16 to i32
    %idxw = arith.extui %idx : i1 to i32
    %up_okw = arith.extui %up_ok : i1 to i32
    %down_okw = arith.extui %down_ok : i1 to i32
    %all = vector.from_elements %upw, %up_okw, %downw, %down_okw, %idxw : vector<5xi32>
    %at = arith.muli %t, %five : i32
    %p = llvm.getelementptr %y[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %all, %p {alignment = 4 : i64} : vector<5xi32>, !llvm.ptr<1>
    gpu.return
  }

  // Copies four bytes from x + from to y + to: to be out of bounds, misaligned, without a value.
  gpu.func @copy(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %from: i64, %to: i64) kernel
      attributes {known_block_size = array<i32: 1, 1, 1>} {
    %p = llvm.getelementptr inbounds %x[%from] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
    %q = llvm.getelementptr inbounds %y[%to] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
    %v = llvm.load %p : !llvm.ptr<1> -> f32
    llvm.store %v, %q : f32, !llvm.ptr<1>
    gpu.return
  }

  // Writes tile[at], then reads more[read].
  gpu.func @arrays(%at: i64, %read: i64) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %v = arith.constant 1.0 : f32
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %more = llvm.mlir.addressof @more : !llvm.ptr<3>
    %p = llvm.getelementptr %tile[%at] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
    llvm.store %v, %p : f32, !llvm.ptr<3>
    %q = llvm.getelementptr %more[%read] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
    %generic = llvm.addrspacecast %q : !llvm.ptr<3> to !llvm.ptr
    llvm.store %v, %more : f32, !llvm.ptr<3>
    %r = llvm.load %generic : !llvm.ptr -> f32
    gpu.return
  }

  // Block 0 writes the tile, the others read it: memory of a block is its own.
  gpu.func @left_over() kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %v = arith.constant 1.0 : f32
    %zero = arith.constant 0 : index
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %b = gpu.block_id x
    %first = arith.cmpi eq, %b, %zero : index
    scf.if %first {
      llvm.store %v, %tile : f32, !llvm.ptr<3>
    } else {
      %r = llvm.load %tile : !llvm.ptr<3> -> f32
    }
    gpu.return
  }

  // y has what a thread is told of where it stands: 11 words for each of 24 threads of each of the blocks.
  gpu.func @standing(%y: !llvm.ptr<1>, %h: i16, %d: f64, %i: index) kernel
      attributes {known_block_size = array<i32: 4, 3, 2>} {
    %c11 = arith.constant 11 : index
    %tx = gpu.thread_id x
    %ty = gpu.thread_id y
    %tz = gpu.thread_id z
    %bx = gpu.block_id x
    %gx = gpu.grid_dim x
    %dx = gpu.block_dim x
    %dy = gpu.block_dim y
    %dz = gpu.block_dim z
    %lane = gpu.lane_id
    %sub = gpu.subgroup_id : index
    %size = gpu.subgroup_size : index
    %row = arith.muli %tz, %dy : index
    %col = arith.addi %row, %ty : index
    %lin = arith.muli %col, %dx : index
    %t = arith.addi %lin, %tx : index
    %bd = arith.muli %dx, %dy : index
    %bs = arith.muli %bd, %dz : index
    %off = arith.muli %bx, %bs : index
    %at = arith.addi %off, %t : index
    %w = arith.muli %at, %c11 : index
    %di = arith.fptosi %d : f64 to i32
    %hi = arith.extsi %h : i16 to i32
    %txw = arith.index_cast %tx : index to i32
    %tyw = arith.index_cast %ty : index to i32
    %tzw = arith.index_cast %tz : index to i32
    %bxw = arith.index_cast %bx : index to i32
    %gxw = arith.index_cast %gx : index to i32
    %lw = arith.index_cast %lane : index to i32
    %sw = arith.index_cast %sub : index to i32
    %zw = arith.index_cast %size : index to i32
    %iw = arith.index_cast %i : index to i32
    %w64 = arith.index_cast %w : index to i64
    %p = llvm.getelementptr %y[%w64] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    %all = vector.from_elements %txw, %tyw, %tzw, %bxw, %gxw, %lw, %sw, %zw, %hi, %di, %iw : vector<11xi32>
    llvm.store %all, %p {alignment = 4 : i64} : vector<11xi32>, !llvm.ptr<1>
    gpu.return
  }
}
