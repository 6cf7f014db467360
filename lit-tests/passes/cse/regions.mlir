// RUN: sutura-opt %s --cse | FileCheck %s

// Operations with equal regions are equal, whatever their values are called.

// CHECK-LABEL: func.func @equal(
// CHECK:         %[[R:.*]] = scf.if
// CHECK-NOT:     scf.if
// CHECK:         return %[[R]], %[[R]]
func.func @equal(%c: i1, %x: i32) -> (i32, i32) {
  %a = scf.if %c -> (i32) {
    %t = arith.muli %x, %x : i32
    scf.yield %t : i32
  } else {
    scf.yield %x : i32
  }
  %b = scf.if %c -> (i32) {
    %other = arith.muli %x, %x : i32
    scf.yield %other : i32
  } else {
    scf.yield %x : i32
  }
  return %a, %b : i32, i32
}

// CHECK-LABEL: func.func @different(
// CHECK:         scf.if
// CHECK:         scf.if
func.func @different(%c: i1, %x: i32) -> (i32, i32) {
  %a = scf.if %c -> (i32) {
    %t = arith.muli %x, %x : i32
    scf.yield %t : i32
  } else {
    scf.yield %x : i32
  }
  %b = scf.if %c -> (i32) {
    %t = arith.addi %x, %x : i32
    scf.yield %t : i32
  } else {
    scf.yield %x : i32
  }
  return %a, %b : i32, i32
}
