// RUN: sutura-opt %s --inline -o /dev/null --remarks-filter-passed=inline 2>&1 | FileCheck %s
// RUN: sutura-opt %s --inline -o /dev/null --remarks-filter-missed=inline 2>&1 | FileCheck %s --check-prefix=MISSED

// Each call that was inlined is said, and each function that went with it; calls that stay have a reason.

// CHECK-NOT:  remark: call
// CHECK:      :[[#@LINE+14]]:8: remark: call of '@twice' is inlined
// CHECK:      :[[#@LINE+5]]:1: remark: '@twice' is erased: it is private, and nothing refers to it any more
// CHECK-NOT:  remark: call
// MISSED-NOT: remark: call
// MISSED:     :[[#@LINE+11]]:8: remark: call of '@kept' is not inlined: the function is marked 'no_inline'
// MISSED-NOT: remark: call
func.func private @twice(%x: i32) -> i32 {
  %0 = arith.addi %x, %x : i32
  return %0 : i32
}

func.func private @kept(%x: i32) -> i32 attributes {no_inline} { return %x : i32 }

func.func @f(%x: i32) -> i32 {
  %0 = call @twice(%x) : (i32) -> i32
  %1 = call @kept(%0) : (i32) -> i32
  return %1 : i32
}
