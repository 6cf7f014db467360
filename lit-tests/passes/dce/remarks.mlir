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

// Arguments of blocks, and values of loops, are counted for each function.

// CHECK:      :[[#@LINE+2]]:1: remark: 1 block argument erased: nothing needs the values
// CHECK:      :[[#@LINE+8]]:1: remark: 1 value of loops passed on unchanged: nothing needs the new ones
func.func @argument(%x: i32) {
  cf.br ^next(%x : i32)

^next(%unused: i32):
  return
}

func.func @carried(%n: index, %x: i32, %m: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (i32) {
    %1 = arith.addi %a, %x : i32
    memref.store %x, %m[%i] : memref<?xi32>
    scf.yield %1 : i32
  }
  return
}
