// RUN: sutura-opt %s --sccp | FileCheck %s
// RUN: sutura-opt %s --pass-pipeline='builtin.module(func.func(sccp))' | FileCheck %s

// The side that is never taken says nothing about the argument of the last block; the branch itself stays.

// CHECK-LABEL: func.func @branches(
// CHECK:         %[[C:.*]] = arith.constant 2 : i32
// CHECK:         cf.cond_br
// CHECK:         cf.br ^[[END:.*]](%[[C]] : i32)
// CHECK:       ^[[END]](
// CHECK-NEXT:    return %[[C]] : i32
func.func @branches(%x: i32) -> i32 {
  %true = arith.constant true
  %one = arith.constant 1 : i32
  cf.cond_br %true, ^yes(%one : i32), ^end(%x : i32)
^yes(%a: i32):
  %two = arith.addi %a, %a : i32
  cf.br ^end(%two : i32)
^end(%r: i32):
  return %r : i32
}

// A value that goes around a loop of blocks unchanged is what it was at first.

// CHECK-LABEL: func.func @around(
// CHECK:         %[[C:.*]] = arith.constant 7 : i32
// CHECK:         return %[[C]] : i32
func.func @around(%c: i1) -> i32 {
  %seven = arith.constant 7 : i32
  %zero = arith.constant 0 : i32
  cf.br ^loop(%seven : i32)
^loop(%a: i32):
  %same = arith.addi %a, %zero : i32
  cf.cond_br %c, ^loop(%same : i32), ^end
^end:
  return %same : i32
}

// One that changes is not constant.

// CHECK-LABEL: func.func @counts(
// CHECK:         ^bb1(%[[A:.*]]: i32):
// CHECK-NEXT:      %[[N:.*]] = arith.addi %[[A]]
// CHECK:           return %[[N]] : i32
func.func @counts(%c: i1) -> i32 {
  %one = arith.constant 1 : i32
  cf.br ^loop(%one : i32)
^loop(%a: i32):
  %next = arith.addi %a, %one : i32
  cf.cond_br %c, ^loop(%next : i32), ^end
^end:
  return %next : i32
}

// Nothing is done to what is not executed.

// CHECK-LABEL: func.func @dead(
// CHECK:       ^bb1(%[[A:.*]]: i32):
// CHECK-NEXT:    arith.addi %[[A]]
func.func @dead() {
  %false = arith.constant false
  %one = arith.constant 1 : i32
  cf.cond_br %false, ^no(%one : i32), ^end
^no(%a: i32):
  %b = arith.addi %a, %a : i32
  cf.br ^no(%b : i32)
^end:
  return
}
