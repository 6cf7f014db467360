// RUN: sutura-opt %s --convert-gpu-to-spirv --split-input-file --verify-diagnostics

gpu.module @m {
  // expected-error@+1 {{has no 'known_block_size': SPIR-V fixes the size of workgroups}}
  gpu.func @k() kernel {
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
  // expected-error@+1 {{is in address space 1}}
  llvm.mlir.global internal @g() {addr_space = 1 : i32} : f32
}

// -----

gpu.module @m {
  // expected-error@+1 {{has an initial value, which variables of workgroups cannot have}}
  llvm.mlir.global internal @g(1.0 : f32) {addr_space = 3 : i32} : f32
}

// -----

gpu.module @m {
  // expected-error@+1 {{cannot be converted to SPIR-V inside 'gpu.module'}}
  func.func private @f()
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
  gpu.func @k(%x: f32, %y: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    // expected-error@+1 {{'math.exp' op cannot be converted to SPIR-V}}
    %0 = math.exp %x : f32
    llvm.store %0, %y : f32, !llvm.ptr<1>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%y: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    // expected-error@+1 {{has a value of type 'vector<8xf32>': vectors have 1 to 4 elements in SPIR-V}}
    %0 = llvm.load %y : !llvm.ptr<1> -> vector<8xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%y: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    // expected-error@+1 {{has a value of type 'i4', which SPIR-V has not}}
    %0 = llvm.load %y : !llvm.ptr<1> -> i4
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%y: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    // expected-error@+1 {{has alignment 2}}
    %0 = llvm.load %y {alignment = 2 : i64} : !llvm.ptr<1> -> f32
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%y: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    // expected-error@+1 {{accesses 'vector<4xi1>': truth values in memory are accessed one by one}}
    %0 = llvm.load %y : !llvm.ptr<1> -> vector<4xi1>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%y: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    // expected-error@+1 {{is atomic, which is not supported}}
    %0 = llvm.load %y atomic seq_cst {alignment = 4 : i64} : !llvm.ptr<1> -> f32
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%y: !llvm.ptr<1>, %i: i64) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    // expected-error@+1 {{leads into 'vector<4xf32>'}}
    %0 = llvm.getelementptr %y[%i, %i] : (!llvm.ptr<1>, i64, i64) -> !llvm.ptr<1>, vector<4xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  llvm.mlir.global internal @s() {addr_space = 3 : i32} : !llvm.array<32 x f32>
  gpu.func @k(%y: !llvm.ptr<1>, %i: i64) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %s = llvm.mlir.addressof @s : !llvm.ptr<3>
    // expected-error@+1 {{steps by 'i8' through a variable of 'f32'}}
    %0 = llvm.getelementptr %s[%i] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, i8
    gpu.return
  }
}

// -----

gpu.module @m {
  llvm.mlir.global internal @s() {addr_space = 3 : i32} : !llvm.array<32 x f32>
  gpu.func @k(%y: !llvm.ptr<1>, %i: i64) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %s = llvm.mlir.addressof @s : !llvm.ptr<3>
    // expected-error@+1 {{accesses 'f64' in a variable of 'f32'}}
    %0 = llvm.load %s : !llvm.ptr<3> -> f64
    gpu.return
  }
}

// -----

gpu.module @m {
  llvm.mlir.global internal @s() {addr_space = 3 : i32} : !llvm.array<32 x f32>
  gpu.func @k(%y: !llvm.ptr<1>, %c: i64) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %s = llvm.mlir.addressof @s : !llvm.ptr<3>
    %q = llvm.getelementptr %s[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, f32
    %b = arith.cmpi eq, %c, %c : i64
    // expected-error@+1 {{uses an address in a variable of the workgroup other than to access it}}
    %p = arith.select %b, %s, %q : !llvm.ptr<3>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%p: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %x = llvm.load %p : !llvm.ptr<1> -> bf16
    // expected-error@+1 {{computes with bf16, which SPIR-V cannot}}
    %0 = arith.addf %x, %x : bf16
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%x: f32) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    // expected-error@+1 {{has no exact counterpart in SPIR-V, whose remainder of floats is approximate}}
    %0 = arith.remf %x, %x : f32
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%x: f64) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    // expected-error@+1 {{rounds to bf16 from another type than f32}}
    %0 = arith.truncf %x : f64 to bf16
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%x: f32) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    // expected-error@+1 {{has a rounding mode that SPIR-V cannot be asked for in one place}}
    %0 = arith.truncf %x upward : f32 to f16
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%x: i64) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %i = arith.index_cast %x : i64 to index
    // expected-error@+1 {{'scf.parallel' op cannot be converted to SPIR-V}}
    scf.parallel (%j) = (%i) to (%i) step (%i) {
      scf.reduce
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error@+1 {{has several blocks}}
  gpu.func @k() kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    cf.br ^bb1
  ^bb1:
    gpu.return
  }
}
