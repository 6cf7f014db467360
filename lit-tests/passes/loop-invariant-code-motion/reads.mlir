// RUN: sutura-opt %s --loop-invariant-code-motion | FileCheck %s
// RUN: sutura-opt %s --loop-invariant-code-motion --remarks --mlir-pass-statistics -o /dev/null 2>&1 | FileCheck %s --check-prefix=SAID

// A read of memory that the loop does not write leaves a loop that surely runs.

// SAID: remark: 'memref.load' is moved before the loop
// SAID: remark: 'arith.divsi' is moved before the loop
// CHECK-LABEL: func.func @runs(
// CHECK:         memref.load
// CHECK-NEXT:    arith.divsi
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      memref.store
func.func @runs(%m: memref<4xi32>, %i: index, %x: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %own = memref.alloc() : memref<4xi32>
  scf.for %k = %c0 to %c4 step %c1 {
    %v = memref.load %m[%i] : memref<4xi32>
    %d = arith.divsi %x, %v : i32
    memref.store %d, %own[%k] : memref<4xi32>
  }
  return
}

// The loop may not run, and the index may be out of bounds.

// SAID: remark: 'memref.load' stays: the loop may not execute it
// CHECK-LABEL: func.func @may_not_run(
// CHECK:         scf.for
// CHECK-NEXT:      memref.load
func.func @may_not_run(%m: memref<4xi32>, %n: index, %i: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %own = memref.alloc() : memref<4xi32>
  scf.for %k = %c0 to %n step %c1 {
    %v = memref.load %m[%i] : memref<4xi32>
    memref.store %v, %own[%k] : memref<4xi32>
  }
  return
}

// The loop may write it.

// SAID: remark: 'memref.load' stays: the loop may write what it reads
// CHECK-LABEL: func.func @written(
// CHECK:         scf.for
// CHECK-NEXT:      memref.load
func.func @written(%m: memref<4xi32>, %n: memref<4xi32>, %i: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %k = %c0 to %c4 step %c1 {
    %v = memref.load %m[%i] : memref<4xi32>
    memref.store %v, %n[%k] : memref<4xi32>
  }
  return
}

// Behind a call, which may not come back, and on one side of a condition nothing is sure.

// CHECK-LABEL: func.func @not_sure(
// CHECK:         scf.for
// CHECK-NEXT:      func.call
// CHECK-NEXT:      arith.divsi
// CHECK:           scf.if
// CHECK-NEXT:        memref.load
func.func @not_sure(%m: memref<4xi32>, %i: index, %x: i32, %p: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %own = memref.alloc() : memref<4xi32>
  scf.for %k = %c0 to %c4 step %c1 {
    func.call @opaque() : () -> ()
    %d = arith.divsi %x, %x : i32
    memref.store %d, %own[%k] : memref<4xi32>
  }
  scf.for %k = %c0 to %c4 step %c1 {
    scf.if %p {
      %v = memref.load %m[%i] : memref<4xi32>
      memref.store %v, %own[%k] : memref<4xi32>
    }
  }
  return
}
func.func private @opaque()

// SAID: 2 num-hoisted
// SAID: num-not-speculatable
// SAID: 1 num-written
