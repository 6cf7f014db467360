// RUN: sutura-opt %s --sccp -o /dev/null --remarks 2>&1 | FileCheck %s
// RUN: sutura-opt %s --sccp -o /dev/null --remarks-filter-analyse=sccp 2>&1 | FileCheck %s --check-prefix=FOUND

// What is constant is said where it is defined, and which blocks are never executed.

// CHECK-NOT:  remark:
// CHECK:      remark: this block is never executed
// CHECK:      remark: the result of 'arith.addi' is constant: 4 : i32
// CHECK:      remark: block argument #0 is constant: 4 : i32
// CHECK-NOT:  remark:
// FOUND-NOT: remark:
// FOUND:     :[[#@LINE+9]]:3: remark: this block is never executed
// FOUND-NOT: remark:
func.func @f(%x: i32) -> i32 {
  %c2 = arith.constant 2 : i32
  %true = arith.constant true
  %0 = arith.addi %c2, %c2 : i32
  cf.cond_br %true, ^next(%0 : i32), ^never

^never:
  cf.br ^next(%x : i32)

^next(%1: i32):
  %2 = arith.muli %1, %x : i32
  return %2 : i32
}

// Nothing is known of what comes from outside.

func.func @unknown(%x: i32) -> i32 {
  %0 = arith.addi %x, %x : i32
  return %0 : i32
}
