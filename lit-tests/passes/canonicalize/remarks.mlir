// RUN: sutura-opt %s --canonicalize -o /dev/null --remarks-filter=canonicalize 2>&1 | FileCheck %s
// RUN: sutura-opt %s --canonicalize=max-iterations=1 -o /dev/null --remarks-filter-missed=canonicalize 2>&1 | FileCheck %s --check-prefix=MISSED
// RUN: sutura-opt %s --canonicalize -o /dev/null --remarks-filter-missed=canonicalize 2>&1 | FileCheck %s --allow-empty --check-prefix=NONE

// One remark per body sums up what was done; a body in which nothing was to do has none.

// NONE-NOT: remark:
// CHECK:     :[[#@LINE+4]]:1: remark: canonicalized in 2 iterations: 1 folded, 5 erased, 2 rewritten (mul_of_product 1, trunci_of_ext 1), regions simplified
// CHECK-NOT: remark:
// MISSED:     :[[#@LINE+2]]:1: remark: canonicalization is given up in iteration 1: more could be done
// MISSED-NOT: remark:
func.func @f(%x: i32, %y: i16) -> (i32, i8) {
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %0 = arith.muli %c2, %c3 : i32
  %1 = arith.muli %x, %0 : i32
  %2 = arith.muli %1, %c2 : i32
  %3 = arith.extsi %y : i16 to i32
  %4 = arith.trunci %3 : i32 to i8
  return %2, %4 : i32, i8
^never:
  return %x, %4 : i32, i8
}

func.func @nothing(%x: i32) -> i32 {
  return %x : i32
}
