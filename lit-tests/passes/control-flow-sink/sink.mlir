// RUN: sutura-opt %s --control-flow-sink | FileCheck %s
// RUN: sutura-opt %s --control-flow-sink --mlir-pass-statistics 2>&1 | FileCheck %s --check-prefix=STATS

// STATS: (S) 5 num-sunk

// What one side uses goes there, with what only that uses; what both use stays.

// CHECK-LABEL: func.func @sides(
// CHECK-SAME:    %[[C:.*]]: i1, %[[A:.*]]: i32
// CHECK-NEXT:    %[[Z:.*]] = arith.subi
// CHECK-NEXT:    scf.if %[[C]]
// CHECK-NEXT:      %[[X:.*]] = arith.addi %[[A]], %[[A]]
// CHECK-NEXT:      %[[Y:.*]] = arith.muli %[[X]], %[[X]]
// CHECK-NEXT:      arith.addi %[[Y]], %[[Z]]
// CHECK:         } else {
// CHECK-NEXT:      %[[W:.*]] = arith.divsi
// CHECK-NEXT:      arith.addi %[[W]], %[[Z]]
func.func @sides(%c: i1, %a: i32) -> i32 {
  %x = arith.addi %a, %a : i32
  %y = arith.muli %x, %x : i32
  %z = arith.subi %a, %a : i32
  %w = arith.divsi %a, %a : i32
  %r = scf.if %c -> (i32) {
    %q = arith.addi %y, %z : i32
    scf.yield %q : i32
  } else {
    %q = arith.addi %w, %z : i32
    scf.yield %q : i32
  }
  return %r : i32
}

// Deeper inside is inside too.

// CHECK-LABEL: func.func @deep(
// CHECK-NEXT:    scf.if
// CHECK-NEXT:      scf.if
// CHECK-NEXT:        arith.addi
func.func @deep(%c: i1, %a: i32, %m: memref<i32>) {
  %x = arith.addi %a, %a : i32
  scf.if %c {
    scf.if %c {
      memref.store %x, %m[] : memref<i32>
    }
  }
  return
}

// Loops run many times, and memory may change before the region runs.

// CHECK-LABEL: func.func @stays(
// CHECK:         arith.addi
// CHECK-NEXT:    memref.load
// CHECK-NEXT:    scf.for
func.func @stays(%c: i1, %n: index, %a: i32, %m: memref<i32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = arith.addi %a, %a : i32
  %l = memref.load %m[] : memref<i32>
  scf.for %i = %c0 to %n step %c1 {
    memref.store %x, %m[] : memref<i32>
  }
  scf.if %c {
    memref.store %l, %m[] : memref<i32>
  }
  return
}
