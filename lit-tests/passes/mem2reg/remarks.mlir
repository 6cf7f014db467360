// RUN: sutura-opt %s --mem2reg -o /dev/null --remarks-filter-passed=mem2reg 2>&1 | FileCheck %s --check-prefix=PASSED
// RUN: sutura-opt %s --mem2reg -o /dev/null --remarks-filter-missed=mem2reg 2>&1 | FileCheck %s --check-prefix=MISSED

// PASSED-NOT: not promoted
// PASSED:     :[[#@LINE+6]]:8: remark: this memory is promoted to values
// PASSED-NOT: not promoted
// MISSED-NOT: promoted to values
// MISSED:     :[[#@LINE+4]]:8: remark: this memory is not promoted: 'memref.store' uses it: it stores the slot's address
// MISSED-NOT: promoted to values
func.func @f(%x: i32, %p: memref<memref<i32>>) -> i32 {
  %0 = memref.alloca() : memref<i32>
  %1 = memref.alloca() : memref<i32>
  memref.store %x, %0[] : memref<i32>
  %2 = memref.load %0[] : memref<i32>
  memref.store %1, %p[] : memref<memref<i32>>
  return %2 : i32
}
