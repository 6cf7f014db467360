// RUN: sutura-opt %s --loop-invariant-code-motion | FileCheck %s
// RUN: sutura-opt %s --loop-invariant-code-motion --mlir-pass-statistics 2>&1 | FileCheck %s --check-prefix=STATS

// STATS: (S) 9 num-hoisted
// STATS: (S) 3 num-not-speculatable

// What depends on nothing in either loop leaves both; what depends on the outer one leaves the inner.

// CHECK-LABEL: func.func @nested(
// CHECK-SAME:    %[[N:.*]]: index, %[[A:.*]]: index, %[[M:.*]]: memref<?xindex>
// CHECK:         %[[S:.*]] = arith.addi %[[A]], %[[A]]
// CHECK-NEXT:    %[[P:.*]] = arith.muli %[[S]], %[[S]]
// CHECK-NEXT:    scf.for %[[I:.*]] = %
// CHECK-NEXT:      %[[Q:.*]] = arith.addi %[[I]], %[[P]]
// CHECK-NEXT:      scf.for %[[J:.*]] = %
// CHECK-NEXT:        %[[R:.*]] = arith.addi %[[Q]], %[[J]]
// CHECK-NEXT:        memref.store %[[R]]
func.func @nested(%n: index, %a: index, %m: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %s = arith.addi %a, %a : index
      %p = arith.muli %s, %s : index
      %q = arith.addi %i, %p : index
      %r = arith.addi %q, %j : index
      memref.store %r, %m[%j] : memref<?xindex>
    }
  }
  return
}

// An operation with regions goes as a whole, if all in it may.

// CHECK-LABEL: func.func @regions(
// CHECK:         %[[X:.*]] = scf.if
// CHECK:         scf.for
// CHECK-NEXT:      %[[Y:.*]] = scf.if
// CHECK-NEXT:        arith.divsi
// CHECK:           arith.addi %[[X]], %[[Y]]
func.func @regions(%n: index, %c: i1, %a: i32, %b: i32, %m: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %x = scf.if %c -> (i32) {
      %s = arith.addi %a, %b : i32
      scf.yield %s : i32
    } else {
      scf.yield %a : i32
    }
    %y = scf.if %c -> (i32) {
      %s = arith.divsi %a, %b : i32
      scf.yield %s : i32
    } else {
      scf.yield %a : i32
    }
    %z = arith.addi %x, %y : i32
    memref.store %z, %m[%i] : memref<?xi32>
  }
  return
}

// Division is undefined by zero, and the loop may not run; by a constant that is not zero it is defined. Whether a
// loop with an unknown step ends is not known. Memory is neither read nor written elsewhere.

// CHECK-LABEL: func.func @stays(
// CHECK:         arith.divsi %{{.*}}, %c3
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      arith.divsi %{{.*}}, %b
// CHECK-NEXT:      scf.for
// CHECK:           memref.load
// CHECK-NEXT:      memref.alloc()
func.func @stays(%n: index, %a: i32, %b: i32, %m: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : i32
  scf.for %i = %c0 to %n step %c1 {
    %d = arith.divsi %a, %b : i32
    %e = arith.divsi %a, %c3 : i32
    %f = scf.for %j = %c0 to %n step %n iter_args(%k = %a) -> (i32) {
      scf.yield %k : i32
    }
    %l = memref.load %m[%c0] : memref<?xi32>
    %p = memref.alloc() : memref<4xi32>
    memref.store %l, %p[%c0] : memref<4xi32>
    %g = arith.addi %d, %e : i32
    %h = arith.addi %f, %g : i32
    memref.store %h, %m[%i] : memref<?xi32>
  }
  return
}

// Both regions of a while loop are left.

// CHECK-LABEL: func.func @while(
// CHECK-NEXT:    %[[L:.*]] = arith.addi
// CHECK-NEXT:    %[[D:.*]] = arith.muli
// CHECK-NEXT:    scf.while
// CHECK-NEXT:      arith.cmpi slt, %{{.*}}, %[[L]]
// CHECK:         } do {
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      arith.addi %{{.*}}, %[[D]]
func.func @while(%a: i32, %b: i32) -> i32 {
  %r = scf.while (%x = %a) : (i32) -> i32 {
    %l = arith.addi %a, %b : i32
    %c = arith.cmpi slt, %x, %l : i32
    scf.condition(%c) %x : i32
  } do {
  ^bb0(%y: i32):
    %d = arith.muli %b, %b : i32
    %z = arith.addi %y, %d : i32
    scf.yield %z : i32
  }
  return %r : i32
}
