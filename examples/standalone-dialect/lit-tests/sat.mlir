// RUN: standalone-opt %s | standalone-opt | FileCheck %s
// RUN: standalone-opt %s --canonicalize | FileCheck %s --check-prefix=CANON
// RUN: standalone-opt %s --lower-sat | FileCheck %s --check-prefix=LOWER

// CHECK-LABEL: func.func @add(
// CHECK:         sat.add %{{.*}}, %{{.*}} : i8

// CANON-LABEL: func.func @add(
// CANON-SAME:    %[[X:.*]]: i8, %[[Y:.*]]: i8
// CANON-NEXT:    %[[SUM:.*]] = sat.add %[[X]], %[[Y]] : i8
// CANON-NEXT:    return %[[SUM]]

// LOWER-LABEL: func.func @add(
// LOWER-DAG:     arith.constant -128 : i8
// LOWER-DAG:     arith.constant 127 : i8
// LOWER-NOT:     sat.
// LOWER:         return
func.func @add(%x: i8, %y: i8) -> i8 {
  %zero = arith.constant 0 : i8
  %0 = sat.add %zero, %x : i8
  %1 = sat.add %0, %y : i8
  return %1 : i8
}
