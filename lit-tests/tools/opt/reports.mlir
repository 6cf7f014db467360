// RUN: sutura-opt %s --cse --mlir-pass-statistics -o %t 2>&1 | FileCheck %s
// RUN: sutura-opt %s --pass-pipeline='builtin.module(func.func(cse))' --mlir-timing -o %t 2>&1 | FileCheck %s --check-prefix=TIME

// CHECK:      ... Pass statistics report ...
// CHECK:      'builtin.module' Pipeline
// CHECK-NEXT:   CSE
// CHECK-NEXT:     (S) 1 num-cse'd - Number of operations CSE'd
// CHECK-NEXT:     (S) 1 num-dce'd - Number of operations DCE'd

// TIME: Execution time report
// TIME: Total Execution Time:
// TIME: Parser
// TIME: 'func.func' Pipeline
// TIME:   CSE
// TIME: Total

func.func @f(%x: i32, %y: i32) -> (i32, i32) {
  %dead = arith.muli %x, %y : i32
  %a = arith.addi %x, %y : i32
  %b = arith.addi %x, %y : i32
  return %a, %b : i32, i32
}
