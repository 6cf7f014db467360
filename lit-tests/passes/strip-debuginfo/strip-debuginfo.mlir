// RUN: sutura-opt %s --strip-debuginfo --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --implicit-check-not=a.py

// CHECK: func.func @f(%{{.*}}: i32 loc(unknown)) -> i32
func.func @f(%x: i32 loc("a.py":1:2)) -> i32 {
  // CHECK: arith.addi %{{.*}} : i32 loc(unknown)
  %0 = arith.addi %x, %x : i32 loc("a.py":3:4)
  return %0 : i32 loc("a.py":5:6)
} loc("a.py":7:8)
