// RUN: sutura-opt %s --mem2reg | FileCheck %s

// A nested region may read what was stored before it.

// CHECK-LABEL: func.func @read_inside(
// CHECK-SAME:    %[[C:.*]]: i1, %[[X:.*]]: i32, %[[Y:.*]]: i32)
// CHECK-NEXT:    %[[R:.*]] = scf.if %[[C]] -> (i32) {
// CHECK-NEXT:      scf.yield %[[X]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %[[Y]]
// CHECK-NEXT:    }
// CHECK-NEXT:    arith.addi %[[R]], %[[Y]]
func.func @read_inside(%c: i1, %x: i32, %y: i32) -> i32 {
  %a = memref.alloca() : memref<i32>
  memref.store %x, %a[] : memref<i32>
  %r = scf.if %c -> (i32) {
    %v = memref.load %a[] : memref<i32>
    scf.yield %v : i32
  } else {
    scf.yield %y : i32
  }
  memref.store %y, %a[] : memref<i32>
  %w = memref.load %a[] : memref<i32>
  %s = arith.addi %r, %w : i32
  return %s : i32
}

// Memory within a region, and in each iteration its own.

// CHECK-LABEL: func.func @within(
// CHECK:         scf.for %[[I:.*]] =
// CHECK-NEXT:      memref.store %[[I]], %{{.*}}[%[[I]]]
// CHECK-NEXT:    }
func.func @within(%n: index, %m: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.alloca() : memref<index>
    memref.store %i, %a[] : memref<index>
    %v = memref.load %a[] : memref<index>
    memref.store %v, %m[%i] : memref<?xindex>
  }
  return
}
