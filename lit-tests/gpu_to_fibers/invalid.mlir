// RUN: sutura-opt %s --convert-gpu-to-fibers --split-input-file --verify-diagnostics

gpu.module @m {
  // expected-error@+1 {{has no 'known_block_size', and the threads of a block are made before it runs}}
  gpu.func @k() kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error@+1 {{has blocks of 64 x 32 x 1 threads}}
  gpu.func @k() kernel attributes {known_block_size = array<i32: 64, 32, 1>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error@+1 {{has blocks of 2147483647 x 2147483647 x 2147483647 threads}}
  gpu.func @k() kernel attributes {known_block_size = array<i32: 2147483647, 2147483647, 2147483647>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error@+1 {{is no kernel}}
  gpu.func @f() {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error@+1 {{has buffers of the block or of the thread behind its arguments}}
  gpu.func @k() workgroup(%b: memref<32xf32, 3>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error@+1 {{has an argument of type 'vector<4xf32>', which cannot be passed}}
  gpu.func @k(%x: vector<4xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error@+1 {{has an argument of type '!llvm.ptr<3>', which cannot be passed}}
  gpu.func @k(%x: !llvm.ptr<3>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error@+1 {{is in address space 1}}
  llvm.mlir.global internal @g() {addr_space = 1 : i32} : f32
}

// -----

gpu.module @m {
  // expected-error@+1 {{has an initial value, which variables of blocks cannot have}}
  llvm.mlir.global internal @g(1.0 : f32) {addr_space = 3 : i32} : f32
}

// -----

gpu.module @m {
  // expected-error@+1 {{has 8589934592 bytes, aligned to 4}}
  llvm.mlir.global internal @g() {addr_space = 3 : i32} : !llvm.array<2147483648 x f32>
}

// -----

gpu.module @m {
  // expected-error@+1 {{cannot be converted to functions for fibers inside 'gpu.module'}}
  func.func private @f()
}

// -----

// All that is wrong is said at once.
gpu.module @m {
  gpu.func @k(%y: !llvm.ptr<1>, %n: i64, %v: f32) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %w = arith.extsi %n : i64 to i128
    // expected-error@+1 {{'llvm.alloca' op cannot be run by fibers}}
    %0 = llvm.alloca %n x f32 : (i64) -> !llvm.ptr
    // expected-error@+1 {{is atomic, which is not supported}}
    %1 = llvm.load %y atomic seq_cst {alignment = 4 : i64} : !llvm.ptr<1> -> f32
    // expected-error@+1 {{accesses a value of type '!llvm.array<4 x f32>'}}
    %2 = llvm.load %y : !llvm.ptr<1> -> !llvm.array<4 x f32>
    // expected-error@+1 {{accesses a value of type 'f80'}}
    %3 = llvm.load %y : !llvm.ptr<1> -> f80
    // expected-error@+1 {{has alignment 3}}
    llvm.store %v, %y {alignment = 3 : i64} : f32, !llvm.ptr<1>
    // expected-error@+1 {{'llvm.cmpxchg' op cannot be run by fibers}}
    %4 = llvm.cmpxchg %y, %n, %n monotonic monotonic : !llvm.ptr<1>, i64
    // expected-error@+1 {{accesses a value of type 'i128'}}
    %5 = llvm.atomicrmw add %y, %w monotonic : !llvm.ptr<1>, i128
    gpu.return
  }
  // expected-error@+1 {{has an argument of type 'memref<4xf32>', which cannot be passed}}
  gpu.func @l(%y: !llvm.ptr<1>, %m: memref<4xf32>, %i: index) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%y: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    // expected-error@+1 {{has a value of type '!llvm.ptr<5>'}}
    %0 = llvm.addrspacecast %y : !llvm.ptr<1> to !llvm.ptr<5>
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error@+1 {{there is another @f in the program}}
  gpu.func @f() kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    gpu.return
  }
}
func.func @f() {
  return
}

// -----

gpu.module @m {
  gpu.func @k() kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    gpu.return
  }
}
gpu.module @n {
  // expected-error@+1 {{there is another @k in the program}}
  gpu.func @k() kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error@+1 {{there is another @sutura_fibers_abi in the program}}
  gpu.func @sutura_fibers_abi() kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @k(%x: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 32, 1, 1>, rt.kernel = {params = [!rt.buffer<f32, [4]>], modes = ["out"], dims = [], requires = #dyn.shape<[]>, grid = #dyn.shape<[1]>}} {
    gpu.return
  }
}
rt.program @main(%x : !rt.buffer<f32, [4]> out "x") symbols() {
  // expected-error@+1 {{launches a kernel of `@kernels`, which is converted}}
  launch @kernels::@k(%x) dims [] : !rt.buffer<f32, [4]>
}
