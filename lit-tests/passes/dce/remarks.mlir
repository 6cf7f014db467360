// RUN: sutura-opt %s --dce -o /dev/null --remarks-filter-passed=dce 2>&1 | FileCheck %s
// RUN: sutura-opt %s --dce -o /dev/null --remarks-filter-missed=dce 2>&1 | FileCheck %s --allow-empty --check-prefix=NONE

// Each operation that went is named where it stood; what stays is not.

// NONE-NOT: remark
// CHECK-NOT:  arith.addi
// CHECK-DAG:  :[[#@LINE+5]]:8: remark: 'arith.muli' is erased: nothing needs its results
// CHECK-DAG:  :[[#@LINE+5]]:8: remark: 'arith.subi' is erased: nothing needs its results
// CHECK-NOT:  arith.addi
func.func @f(%x: i32) -> i32 {
  %0 = arith.addi %x, %x : i32
  %1 = arith.muli %x, %x : i32
  %2 = arith.subi %1, %x : i32
  return %0 : i32
}
