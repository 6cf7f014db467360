// What is refused, with upstream's messages.
// RUN: sutura-opt %s --split-input-file --verify-diagnostics

func.func @f(%m: memref<4xf32>, %s: memref<3xi32>) {
  // expected-error@+1 {{length of shape operand differs from the result's memref rank}}
  %0 = memref.reshape %m(%s) : (memref<4xf32>, memref<3xi32>) -> memref<2x2xf32>
  return
}

// -----

func.func @f(%m: memref<4xf32>) {
  // expected-error@+1 {{missing dimension operand for result type 'memref<?xf32>'}}
  %0 = memref.realloc %m : memref<4xf32> to memref<?xf32>
  return
}

// -----

func.func @f(%m: memref<4xf32>) {
  // expected-error@+1 {{are cast incompatible}}
  %0 = memref.memory_space_cast %m : memref<4xf32> to memref<5xf32, 1>
  return
}

// -----

func.func @f(%m: memref<4xf32>) {
  // expected-error@+1 {{alignment must be power of 2}}
  %0 = memref.assume_alignment %m, 3 : memref<4xf32>
  return
}

// -----

func.func @f(%m: memref<4x?xf32>) {
  // expected-error@+1 {{result type 'memref<?x4xf32>' is not equivalent to the canonical transposed input type 'memref<?x4xf32, strided<[1, ?]>>'}}
  %0 = memref.transpose %m (d0, d1) -> (d1, d0) : memref<4x?xf32> to memref<?x4xf32>
  return
}

// -----

func.func @f(%m: memref<4x4xf32>) {
  // expected-error@+1 {{expected a permutation map of same rank as the input}}
  %0 = memref.transpose %m (d0) -> (d0) : memref<4x4xf32> to memref<4x4xf32>
  return
}

// -----

func.func @f(%m: memref<4x4xf32>) {
  // expected-error@+1 {{expected a permutation map}}
  %0 = memref.transpose %m (d0, d1) -> (d0, d0) : memref<4x4xf32> to memref<4x4xf32>
  return
}

// -----

func.func @f(%m: memref<4x4xf32>) {
  // expected-error@+1 {{use of undeclared identifier}}
  %0 = memref.transpose %m (d0, d1) -> (d0, d2) : memref<4x4xf32> to memref<4x4xf32>
  return
}
