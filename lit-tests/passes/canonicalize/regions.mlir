// RUN: sutura-opt %s --canonicalize --allow-unregistered-dialect | FileCheck %s
// RUN: sutura-opt %s --canonicalize=region-simplify=disabled --allow-unregistered-dialect | FileCheck %s --check-prefix=KEPT

// KEPT-LABEL: func.func @unreachable(
// KEPT:         ^bb
// CHECK-LABEL: func.func @unreachable(
// CHECK-SAME:    %[[X:.*]]: i32
// CHECK-NEXT:    return %[[X]]
// CHECK-NEXT:  }
func.func @unreachable(%x: i32) -> i32 {
  return %x : i32
^bb1(%a: i32):
  cf.br ^bb2(%a : i32)
^bb2(%b: i32):
  cf.br ^bb1(%b : i32)
}

// An argument that is the same on all paths is replaced by its value; one that only goes round is dropped.

// CHECK-LABEL: func.func @arguments(
// CHECK-SAME:    %[[X:.*]]: i32, %[[C:.*]]: i1
// CHECK:         cf.br ^[[HEAD:.*]](%[[X]] : i32)
// CHECK:       ^[[HEAD]](%[[S:[^:]*]]: i32):
// CHECK:         cf.cond_br %[[C]]
// CHECK:         %[[N:.*]] = arith.addi %[[S]], %[[X]] : i32
// CHECK-NEXT:    cf.br ^[[HEAD]](%[[N]] : i32)
// CHECK:         return %[[S]]
func.func @arguments(%x: i32, %c: i1) -> i32 {
  cf.br ^head(%x, %x, %x : i32, i32, i32)
^head(%round: i32, %same: i32, %sum: i32):
  cf.cond_br %c, ^body, ^exit
^body:
  %next = arith.addi %sum, %same : i32
  cf.br ^head(%round, %same, %next : i32, i32, i32)
^exit:
  return %sum : i32
}

// Blocks that are not reached go once, also when they hold regions with others.

// CHECK-LABEL: func.func @unreachable_in_unreachable(
// CHECK-NEXT:    return
// CHECK-NEXT:  }
func.func @unreachable_in_unreachable() {
  return
^bb1:
  "test.outer"() ({
    "test.a"() : () -> ()
  ^bb2:
    "test.b"() : () -> ()
  }) : () -> ()
  cf.br ^bb1
}
