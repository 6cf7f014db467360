// RUN: sutura-opt %s --control-flow-sink -o /dev/null --remarks-filter-passed=sink 2>&1 | FileCheck %s
// RUN: sutura-opt %s --control-flow-sink -o /dev/null --remarks-filter-missed=sink 2>&1 | FileCheck %s --check-prefix=MISSED

// An operation that only one side uses is moved there, or it is said why it stays; what both sides use is not spoken of.

// CHECK-NOT:  remark:
// CHECK-DAG:  :[[#@LINE+9]]:8: remark: 'arith.addi' is moved into the region of 'scf.if' that uses it
// CHECK-DAG:  :[[#@LINE+9]]:8: remark: 'arith.muli' is moved into the region of 'scf.if' that uses it
// CHECK-NOT:  remark:
// MISSED-NOT: remark:
// MISSED:     :[[#@LINE+7]]:8: remark: 'memref.load' stays: it may read or write memory
// MISSED-NOT: remark:
func.func @f(%c: i1, %x: i32, %m: memref<i32>) -> i32 {
  // Used by the next one only.

  %0 = arith.addi %x, %x : i32
  %1 = arith.muli %0, %x : i32
  %2 = memref.load %m[] : memref<i32>
  %3 = arith.subi %x, %x : i32
  %4 = scf.if %c -> i32 {
    %5 = arith.addi %1, %3 : i32
    scf.yield %5 : i32
  } else {
    %6 = arith.addi %2, %3 : i32
    %7 = arith.addi %6, %2 : i32
    scf.yield %7 : i32
  }
  return %4 : i32
}
