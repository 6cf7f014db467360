// RUN: sutura-opt %s --strip-debuginfo -o /dev/null --remarks 2>&1 | FileCheck %s
// RUN: sutura-opt %s --strip-debuginfo --strip-debuginfo -o /dev/null --remarks 2>&1 | FileCheck %s

// One remark per body that had locations; none where they are gone already.

// CHECK:     :[[#@LINE+4]]:1: remark: 3 locations of operations and arguments go
// CHECK-NOT: 3 locations
// CHECK:     remark: 1 location of operations and arguments go
// CHECK-NOT: remark:
func.func @f(%x: i32) -> i32 {
  %0 = arith.addi %x, %x : i32
  return %0 : i32
}
