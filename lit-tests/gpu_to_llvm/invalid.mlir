// What has no conversion, or a wrong option.
// RUN: not sutura-opt %s --convert-gpu-to-rocdl="subgroup=48" 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: sutura-opt %s --convert-gpu-to-nvvm --allow-unregistered-dialect --split-input-file --verify-diagnostics
// RUN: sutura-opt %s --convert-gpu-to-rocdl="subgroup=64" --allow-unregistered-dialect --split-input-file --verify-diagnostics
// OPTION: option `subgroup` takes 32 or 64, not `48`

gpu.module @m {
  // expected-error@+1 {{has buffers of the block or the thread as arguments}}
  gpu.func @k() workgroup(%a : memref<32xf32, 3>) kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error@+1 {{has an argument or result of type index, which LLVM's functions have not}}
  gpu.func @k(%a: index) kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error@+1 {{has several results, but functions of LLVM have at most one}}
  gpu.func @f(%a: f32) -> (f32, f32) {
    gpu.return %a, %a : f32, f32
  }
}

// -----

gpu.module @m {
  gpu.func @k(%a: i24) kernel {
    %c = arith.constant 1 : i32
    // expected-error@+1 {{hands over 24 bits: expected 1, 8, 16, 32 or 64}}
    %x, %v = gpu.shuffle xor %a, %c, %c : i24
    gpu.return
  }
}

// -----

// Nothing is changed where one of several functions cannot be converted: all errors are said, one a module.
gpu.module @first {
  // expected-error@+1 {{has an argument or result of type index}}
  gpu.func @k(%a: index) kernel {
    gpu.return
  }
}
gpu.module @second {
  gpu.func @k() kernel {
    // expected-error@+1 {{has no conversion to the vendor's dialect}}
    "gpu.printf"() {format = "hello"} : () -> ()
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
  // expected-error@+1 {{has blocks of 64 x 32 x 1 threads}}
  gpu.func @k() kernel attributes {known_block_size = array<i32: 64, 32, 1>} {
    gpu.return
  }
}
