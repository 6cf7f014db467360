// RUN: sutura-opt %s --cse | FileCheck %s

// What the entry block computes serves all blocks; what one branch computes does not serve the other.

// CHECK-LABEL: func.func @branches(
// CHECK:         %[[S:.*]] = arith.addi
// CHECK:         cf.cond_br
// CHECK:       ^bb1:
// CHECK-NEXT:    %[[P:.*]] = arith.muli %[[S]], %[[S]]
// CHECK-NEXT:    return %[[P]]
// CHECK:       ^bb2:
// CHECK-NEXT:    %[[Q:.*]] = arith.muli %[[S]], %[[S]]
// CHECK-NEXT:    return %[[Q]]
func.func @branches(%c: i1, %x: i32) -> i32 {
  %s = arith.addi %x, %x : i32
  cf.cond_br %c, ^yes, ^no
^yes:
  %t = arith.addi %x, %x : i32
  %p = arith.muli %s, %t : i32
  return %p : i32
^no:
  %u = arith.addi %x, %x : i32
  %q = arith.muli %u, %s : i32
  return %q : i32
}

// A loop's body sees what comes before it; what comes after does not see into the body.

// CHECK-LABEL: func.func @loop(
// CHECK:         %[[S:.*]] = arith.addi
// CHECK:         scf.for
// CHECK-NOT:       arith.addi
// CHECK:           %[[P:.*]] = arith.muli %[[S]], %[[S]]
// CHECK:         }
// CHECK-NEXT:    %[[Q:.*]] = arith.muli %[[S]], %[[S]]
// CHECK-NEXT:    return %[[Q]]
func.func @loop(%m: memref<?xindex>, %x: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = arith.addi %x, %x : index
  scf.for %i = %c0 to %x step %c1 {
    %t = arith.addi %x, %x : index
    %p = arith.muli %t, %s : index
    memref.store %p, %m[%i] : memref<?xindex>
  }
  %q = arith.muli %s, %s : index
  return %q : index
}
