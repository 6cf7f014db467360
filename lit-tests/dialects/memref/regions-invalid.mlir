// RUN: sutura-opt %s --split-input-file --verify-diagnostics

func.func @f(%m: memref<10xf32>, %i: index, %x: f32, %n: i32, %y: memref<?x4xf32, strided<[?, 1], offset: ?>, 3>) {
  // expected-error@+1 {{'memref.generic_atomic_rmw' op expected single number of entry block arguments}}
  %0 = memref.generic_atomic_rmw %m[%i] : memref<10xf32> {
  ^bb0(%o: f32, %p: f32):
    memref.atomic_yield %o : f32
  }
  return
}

// -----

func.func @f(%m: memref<10xf32>, %i: index, %x: f32, %n: i32, %y: memref<?x4xf32, strided<[?, 1], offset: ?>, 3>) {
  // expected-error@+1 {{'memref.generic_atomic_rmw' op expected block argument of the same type result type}}
  %0 = memref.generic_atomic_rmw %m[%i] : memref<10xf32> {
  ^bb0(%o: i32):
    memref.atomic_yield %x : f32
  }
  return
}

// -----

func.func @f(%m: memref<10xf32>, %i: index, %x: f32, %n: i32, %y: memref<?x4xf32, strided<[?, 1], offset: ?>, 3>) {
  %0 = memref.generic_atomic_rmw %m[%i] : memref<10xf32> {
  ^bb0(%o: f32):
    // expected-error@+1 {{body of 'memref.generic_atomic_rmw' should contain only operations with no side effects}}
    memref.store %x, %m[%i] : memref<10xf32>
    memref.atomic_yield %x : f32
  }
  return
}

// -----

func.func @f(%m: memref<10xf32>, %i: index, %x: f32, %n: i32, %y: memref<?x4xf32, strided<[?, 1], offset: ?>, 3>) {
  %0 = memref.generic_atomic_rmw %m[%i] : memref<10xf32> {
  ^bb0(%o: f32):
    // expected-error@+1 {{'memref.atomic_yield' op types mismatch between yield op: 'i32' and its parent: 'f32'}}
    memref.atomic_yield %n : i32
  }
  return
}

// -----

func.func @f(%m: memref<10xf32>, %i: index, %x: f32, %n: i32, %y: memref<?x4xf32, strided<[?, 1], offset: ?>, 3>) {
  // expected-error@+1 {{'memref.generic_atomic_rmw' op incorrect number of indices, expected 1 but got 0}}
  %0 = memref.generic_atomic_rmw %m[] : memref<10xf32> {
  ^bb0(%o: f32):
    memref.atomic_yield %x : f32
  }
  return
}

// -----

func.func @f(%m: memref<10xf32>, %i: index, %x: f32, %n: i32, %y: memref<?x4xf32, strided<[?, 1], offset: ?>, 3>) {
  // expected-error@+1 {{'memref.atomic_yield' op expects parent op 'memref.generic_atomic_rmw'}}
  memref.atomic_yield %x : f32
}

// -----

func.func @f(%m: memref<10xf32>, %i: index, %x: f32, %n: i32, %y: memref<?x4xf32, strided<[?, 1], offset: ?>, 3>) {
  // expected-error@+1 {{along control flow edge from Operation memref.alloca_scope.return to parent: successor operand type #0 'f32' should match successor input type #0 'i32'}}
  %r = memref.alloca_scope -> (i32) {
    memref.alloca_scope.return %x : f32
  }
  return
}

// -----

func.func @f(%m: memref<10xf32>, %i: index, %x: f32, %n: i32, %y: memref<?x4xf32, strided<[?, 1], offset: ?>, 3>) {
  // expected-error@+1 {{along control flow edge from Operation memref.alloca_scope.return to parent: region branch point has 0 operands, but region successor needs 1 inputs}}
  %r = memref.alloca_scope -> (f32) {
  }
  return
}

// -----

func.func @f(%m: memref<10xf32>, %i: index, %x: f32, %n: i32, %y: memref<?x4xf32, strided<[?, 1], offset: ?>, 3>) {
  // expected-error@+1 {{'memref.alloca_scope' op region should have no arguments}}
  memref.alloca_scope {
  ^bb0(%q: f32):
    memref.alloca_scope.return
  }
  return
}

// -----

func.func @f(%m: memref<10xf32>, %i: index, %x: f32, %n: i32, %y: memref<?x4xf32, strided<[?, 1], offset: ?>, 3>) {
  // expected-error@+1 {{'memref.alloca_scope.return' op expects parent op 'memref.alloca_scope'}}
  memref.alloca_scope.return
}

// -----

func.func @f(%m: memref<10xf32>, %i: index, %x: f32, %n: i32, %y: memref<?x4xf32, strided<[?, 1], offset: ?>, 3>) {
  // expected-error@+1 {{'memref.extract_strided_metadata' op inferred type(s) 'memref<f32, 3>', 'index', 'index', 'index', 'index', 'index' are incompatible with return type(s) of operation 'memref<f32, 3>', 'index', 'index', 'index'}}
  %r:4 = memref.extract_strided_metadata %y : memref<?x4xf32, strided<[?, 1], offset: ?>, 3> -> memref<f32, 3>, index, index, index
  return
}
