// RUN: sutura-opt %s --cse -o /dev/null --remarks-filter-passed=cse 2>&1 | FileCheck %s
// RUN: sutura-opt %s --cse -o /dev/null --remarks-filter-missed=cse 2>&1 | FileCheck %s --check-prefix=MISSED

// What was merged is named with the operation that stands for it, and a read that stays with the reason.

// CHECK-NOT:  remark:
// CHECK:      :[[#@LINE+9]]:8: remark: 'arith.addi' is merged with the one at [[#@LINE+8]]:8
// CHECK:      :[[#@LINE+9]]:8: remark: 'arith.muli' is erased: nothing needs its results
// CHECK:      :[[#@LINE+10]]:8: remark: 'memref.load' is merged with the one at [[#@LINE+9]]:8
// CHECK-NOT:  remark:
// MISSED-NOT: remark:
// MISSED:     :[[#@LINE+9]]:8: remark: 'memref.load' is not merged with the one at [[#@LINE+6]]:8: what it reads may be written in between
// MISSED-NOT: remark:
func.func @f(%x: i32, %y: i32, %m: memref<4xi32>, %n: memref<4xi32>, %i: index) -> (i32, i32, i32, i32, i32) {
  %0 = arith.addi %x, %y : i32
  %1 = arith.addi %y, %x : i32
  %2 = arith.muli %0, %1 : i32
  %3 = memref.load %m[%i] : memref<4xi32>
  %4 = memref.load %m[%i] : memref<4xi32>
  memref.store %x, %n[%i] : memref<4xi32>
  %5 = memref.load %m[%i] : memref<4xi32>
  return %0, %1, %3, %4, %5 : i32, i32, i32, i32, i32
}
