// RUN: sutura-opt %s --pass-pipeline='builtin.module(func.func(cse,canonicalize))' --mlir-print-ir-after-all -o %t 2>&1 | FileCheck %s
// RUN: sutura-opt %s --cse --canonicalize --mlir-print-ir-after-change -o %t 2>&1 | FileCheck %s --check-prefix=CHANGE --implicit-check-not='IR Dump'
// RUN: sutura-opt %s --cse --canonicalize --mlir-print-ir-before=canonicalize -o %t 2>&1 | FileCheck %s --check-prefix=BEFORE --implicit-check-not='IR Dump'

// Dumps come function by function, as if one thread did the work.

// CHECK:      // -----// IR Dump After CSE (cse) //----- //
// CHECK-NEXT: func.func @f(
// CHECK:      // -----// IR Dump After Canonicalizer (canonicalize) //----- //
// CHECK-NEXT: func.func @f(
// CHECK:      // -----// IR Dump After CSE (cse) //----- //
// CHECK-NEXT: func.func @g(
// CHECK:      // -----// IR Dump After Canonicalizer (canonicalize) //----- //
// CHECK-NEXT: func.func @g(

// CHANGE:      // -----// IR Dump After CSE (cse) //----- //
// CHANGE-NEXT: module

// BEFORE:      // -----// IR Dump Before Canonicalizer (canonicalize) //----- //
// BEFORE-NEXT: module

func.func @f(%x: i32, %y: i32) -> (i32, i32) {
  %a = arith.addi %x, %y : i32
  %b = arith.addi %x, %y : i32
  return %a, %b : i32, i32
}
func.func @g() {
  return
}
