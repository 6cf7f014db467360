// RUN: sutura-opt %s --reconcile-unrealized-casts -o /dev/null --remarks-filter-passed=casts 2>&1 | FileCheck %s
// RUN: sutura-opt %s --reconcile-unrealized-casts -o /dev/null --remarks-filter-missed=casts 2>&1 | FileCheck %s --check-prefix=MISSED

// Casts that go and casts that stay are said where they stood.

// CHECK-NOT:  remark:
// CHECK:      :[[#@LINE+7]]:8: remark: this cast is removed: it cancels out, or nothing uses it
// CHECK:      :[[#@LINE+7]]:8: remark: this cast is removed: it cancels out, or nothing uses it
// CHECK-NOT:  remark:
// MISSED-NOT: remark:
// MISSED:     :[[#@LINE+5]]:8: remark: this cast stays: nothing casts its result back
// MISSED-NOT: remark:
func.func @f(%x: i32) -> (i32, index) {
  %0 = builtin.unrealized_conversion_cast %x : i32 to index
  %1 = builtin.unrealized_conversion_cast %0 : index to i32
  %2 = builtin.unrealized_conversion_cast %x : i32 to index
  return %1, %2 : i32, index
}
