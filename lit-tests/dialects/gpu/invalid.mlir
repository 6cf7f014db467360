// What is refused.
// RUN: sutura-opt %s --split-input-file --verify-diagnostics

gpu.module @kernels {
  // expected-error@+1 {{expected void return type for kernel function}}
  gpu.func @k(%x: f32) -> f32 kernel {
    gpu.return %x : f32
  }
}

// -----

gpu.module @kernels {
  // expected-error@+1 {{attribute 'known_block_size' must have three sizes of at least 1: x, y, z}}
  gpu.func @k(%x: f32) kernel attributes {known_block_size = array<i32: 256>} {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @k(%x: f32) {
    // expected-error@+1 {{expected 'x', 'y' or 'z'}}
    %0 = gpu.thread_id w
    gpu.return
  }
}

// -----

// expected-error@+1 {{`w` is no case of `dim`}}
gpu.module @kernels [#gpu<dim w>] {
}

// -----

gpu.module @kernels {
  // expected-error@+1 {{expected at least 2 arguments to body region}}
  "gpu.func"() <{function_type = (f32) -> ()}> ({
  ^bb0(%x: f32):
    "gpu.return"() : () -> ()
  }) {sym_name = "k", workgroup_attributions = 1 : i64} : () -> ()
}
