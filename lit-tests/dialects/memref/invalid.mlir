// Accesses, views and variables that do not fit.
// RUN: sutura-opt %s --split-input-file --verify-diagnostics

func.func @f(%m: memref<?x4xf32>, %i: index) {
  // expected-error@+1 {{'memref.load' op incorrect number of indices for load, expected 2 but got 1}}
  %0 = "memref.load"(%m, %i) : (memref<?x4xf32>, index) -> f32
  return
}

// -----

func.func @f(%m: memref<?x4xf32>, %i: index) {
  // expected-error@+1 {{'memref.load' op failed to verify that result type matches element type of 'memref'}}
  %0 = "memref.load"(%m, %i, %i) : (memref<?x4xf32>, index, index) -> f64
  return
}

// -----

func.func @f(%m: memref<?x4xf32>, %i: index) {
  // expected-error@+1 {{'memref.load' op attribute 'alignment' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive and whose value is a power of two > 0}}
  %0 = "memref.load"(%m, %i, %i) <{alignment = 3 : i64}>: (memref<?x4xf32>, index, index) -> f32
  return
}

// -----

func.func @f(%m: memref<?x4xf32>, %i: index, %x: f64) {
  // expected-error@+1 {{'memref.store' op failed to verify that type of 'value' matches element type of 'memref'}}
  "memref.store"(%x, %m, %i, %i) : (f64, memref<?x4xf32>, index, index) -> ()
  return
}

// -----

func.func @f(%m: memref<?x4xf32>, %i: index, %x: f64) {
  // expected-error@+1 {{'memref.store' op failed to verify that type of 'value' matches element type of 'memref'}}
  "memref.store"(%x, %m, %i) : (f64, memref<?x4xf32>, index) -> ()
  return
}

// -----

func.func @f(%m: memref<?x4xf32>, %i: index, %x: f64) {
  // expected-error@+1 {{'memref.alloc' op incorrect number of dynamic sizes, has 0, expected 1}}
  %0 = memref.alloc() : memref<?xf32>
  return
}

// -----

func.func @f(%m: memref<?x4xf32>, %i: index, %x: f64) {
  // expected-error@+1 {{'memref.alloc' op symbol operand count does not equal memref symbol count: expected 0, got 1}}
  %0 = memref.alloc()[%i] : memref<4xf32>
  return
}

// -----

func.func @f(%m: memref<?x4xf32>, %i: index, %x: f64) {
  // expected-error@+1 {{expected result type to be 'memref<1x4xf32, strided<[4, 1], offset: ?>>' or a rank-reduced version. (mismatch of result layout), but got 'memref<1x4xf32, strided<[4, 1]>>'}}
  %0 = memref.subview %m[%i, 0] [1, 4] [1, 1] : memref<?x4xf32> to memref<1x4xf32, strided<[4, 1], offset: 0>>
  return
}

// -----

func.func @f(%m: memref<?x4xf32>, %i: index, %x: f64) {
  // expected-error@+1 {{expected result type with offset = dynamic instead of 0}}
  %0 = memref.reinterpret_cast %m to offset: [%i], sizes: [4, 4], strides: [4, 1] : memref<?x4xf32> to memref<4x4xf32>
  return
}

// -----

func.func @f(%m: memref<?x4xf32>, %i: index, %x: f64) {
  // expected-error@+1 {{'memref.cast' op operand type 'memref<?x4xf32>' and result type 'memref<?xf32>' are cast incompatible}}
  %0 = memref.cast %m : memref<?x4xf32> to memref<?xf32>
  return
}

// -----

func.func @f(%m: memref<?x4xf32>, %i: index, %x: memref<8xi8>) {
  // expected-error@+1 {{'memref.view' op incorrect number of dynamic sizes, has 0, expected 1}}
  %0 = memref.view %x[%i][] : memref<8xi8> to memref<?xf32>
  return
}

// -----

func.func @f(%m: memref<?x4xf32>, %i: index, %x: memref<8xi8>) {
  // expected-error@+1 {{'memref.get_global' op 'a' does not reference a valid global memref}}
  %0 = memref.get_global @a : memref<4xf32>
  return
}

// -----

memref.global "private" constant @a : memref<4xf32> = dense<0.0> {alignment = 64}
memref.global @b : memref<4xf32> = uninitialized
memref.global @c : memref<4xf32>
func.func @f(%m: memref<?x4xf32>, %i: index, %x: memref<8xi8>) {
  // expected-error@+1 {{'memref.get_global' op result type 'memref<5xf32>' does not match type 'memref<4xf32>' of the global memref @a}}
  %0 = memref.get_global @a : memref<5xf32>
  return
}

// -----

// expected-error@+1 {{'memref.global' op initial value expected to be of type 'tensor<4xf32>', but was of type 'tensor<2xf32>'}}
memref.global @a : memref<4xf32> = dense<0.0> : tensor<2xf32>

// -----

func.func @f(%m: memref<?x4xf32>, %t: memref<3xf32>) {
  // expected-error@+1 {{'memref.copy' op requires the same shape for all operands}}
  memref.copy %m, %t : memref<?x4xf32> to memref<3xf32>
  return
}

// -----

func.func @f(%m: memref<8xf32>) {
  // expected-error@+1 {{'memref.expand_shape' op invalid output shape provided at pos 0}}
  %0 = memref.expand_shape %m [[0, 1]] output_shape [2, 4] : memref<8xf32> into memref<4x2xf32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{'memref.distinct_objects' op expected at least one operand}}
  "memref.distinct_objects"() : () -> ()
  return
}

// -----

func.func @f(%m: memref<4xf32>) {
  // expected-error@+1 {{'memref.distinct_objects' op operand types and result types must match}}
  %0 = "memref.distinct_objects"(%m) : (memref<4xf32>) -> memref<5xf32>
  return
}
