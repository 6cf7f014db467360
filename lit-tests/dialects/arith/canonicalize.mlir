// Folds and patterns of arithmetic: what mlir-opt gives too.
// RUN: sutura-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @ints(%x: i32, %y: i32, %b: i1) -> (i32, i32, i32, i32, i32, i32, i32, i1, i32, i32) {
// CHECK-NEXT: %c0 = arith.constant 0 : i32
// CHECK-NEXT: %c7 = arith.constant 7 : i32
// CHECK-NEXT: %c14_i32 = arith.constant 14 : i32
// CHECK-NEXT: %0 = arith.addi %x, %c14_i32 : i32
// CHECK-NEXT: %1 = arith.subi %c0, %x : i32
// CHECK-NEXT: %2 = arith.addi %x, %c7 : i32
// CHECK-NEXT: %3 = arith.divsi %c7, %c0 : i32
// CHECK-NEXT: %4 = arith.cmpi sle, %x, %c7 : i32
// CHECK-NEXT: %5 = arith.select %4, %x, %y : i32
// CHECK-NEXT: return %x, %0, %1, %0, %2, %3, %5, %4, %x, %c7 : i32, i32, i32, i32, i32, i32, i32, i1, i32, i32
// CHECK-NEXT: }
func.func @ints(%x: i32, %y: i32, %b: i1) -> (i32, i32, i32, i32, i32, i32, i32, i1, i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c7 = arith.constant 7 : i32
  %cm = arith.constant -1 : i32
  %0 = arith.addi %c0, %x : i32
  %1 = arith.addi %x, %c7 : i32
  %2 = arith.addi %1, %c7 : i32
  %3 = arith.subi %c7, %1 : i32
  %4 = arith.muli %2, %c1 : i32
  %5 = arith.subi %4, %c7 : i32
  %6 = arith.divsi %c7, %c0 : i32
  %7 = arith.cmpi slt, %c7, %x : i32
  %true = arith.constant true
  %8 = arith.xori %7, %true : i1
  %9 = arith.select %8, %x, %y : i32
  %10 = arith.andi %x, %cm : i32
  return %0, %2, %3, %4, %5, %6, %9, %8, %10, %c7 : i32, i32, i32, i32, i32, i32, i32, i1, i32, i32
}

// CHECK-LABEL: func.func @floats(%x: f32) -> (f32, f32, f32, f32, f32) {
// CHECK-NEXT: %cst = arith.constant 0x7F800000 : f32
// CHECK-NEXT: %z = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %0 = arith.addf %x, %z : f32
// CHECK-NEXT: return %0, %x, %x, %cst, %x : f32, f32, f32, f32, f32
// CHECK-NEXT: }
func.func @floats(%x: f32) -> (f32, f32, f32, f32, f32) {
  %z = arith.constant 0.0 : f32
  %nz = arith.constant -0.0 : f32
  %one = arith.constant 1.0 : f32
  %0 = arith.addf %x, %z : f32
  %1 = arith.addf %x, %nz : f32
  %2 = arith.mulf %x, %one : f32
  %3 = arith.divf %one, %z : f32
  %4 = arith.negf %1 : f32
  %5 = arith.negf %4 : f32
  return %0, %1, %2, %3, %5 : f32, f32, f32, f32, f32
}

// CHECK-LABEL: func.func @casts(%x: i8, %i: index) -> (i32, i8, i16, index, i64) {
// CHECK-NEXT: %0 = arith.extsi %x : i8 to i32
// CHECK-NEXT: %1 = arith.extsi %x : i8 to i16
// CHECK-NEXT: %2 = arith.extui %x : i8 to i64
// CHECK-NEXT: return %0, %x, %1, %i, %2 : i32, i8, i16, index, i64
// CHECK-NEXT: }
func.func @casts(%x: i8, %i: index) -> (i32, i8, i16, index, i64) {
  %0 = arith.extsi %x : i8 to i16
  %1 = arith.extsi %0 : i16 to i32
  %2 = arith.trunci %1 : i32 to i8
  %3 = arith.trunci %1 : i32 to i16
  %4 = arith.index_cast %i : index to i64
  %5 = arith.index_cast %4 : i64 to index
  %6 = arith.extui %x : i8 to i32
  %7 = arith.extsi %6 : i32 to i64
  return %1, %2, %3, %5, %7 : i32, i8, i16, index, i64
}

// Conditions as numbers, comparisons of converted and of widened values.
// CHECK-LABEL: func.func @numbers(
// CHECK-DAG:   %[[ONE:.*]] = arith.extui %c : i1 to i32
// CHECK-DAG:   %[[NOT:.*]] = arith.xori %c, %{{.*}} : i1
// CHECK-DAG:   %[[ZERO:.*]] = arith.extui %[[NOT]] : i1 to i32
// CHECK-DAG:   %[[FIVE:.*]] = arith.constant 5 : i8
// CHECK-DAG:   %[[LESS:.*]] = arith.cmpi slt, %x, %[[FIVE]] : i8
// CHECK-DAG:   %[[FALSE:.*]] = arith.constant false
// CHECK-DAG:   %[[SAME:.*]] = arith.cmpi eq, %x, %y : i8
// CHECK-DAG:   %[[AND:.*]] = arith.andi %x, %y : i8
// CHECK-DAG:   %[[WIDE:.*]] = arith.extsi %[[AND]] : i8 to i32
// CHECK:       return %[[ONE]], %[[ZERO]], %[[LESS]], %[[FALSE]], %[[SAME]], %[[WIDE]]
func.func @numbers(%c: i1, %x: i8, %y: i8) -> (i32, i32, i1, i1, i1, i32) {
  %n0 = arith.constant 0 : i32
  %n1 = arith.constant 1 : i32
  %0 = arith.select %c, %n1, %n0 : i32
  %1 = arith.select %c, %n0, %n1 : i32
  %f = arith.sitofp %x : i8 to f32
  %limit = arith.constant 4.5 : f32
  %2 = arith.cmpf olt, %f, %limit : f32
  %3 = arith.cmpf oeq, %f, %limit : f32
  %a = arith.extsi %x : i8 to i32
  %b = arith.extsi %y : i8 to i32
  %4 = arith.cmpi eq, %a, %b : i32
  %5 = arith.andi %a, %b : i32
  return %0, %1, %2, %3, %4, %5 : i32, i32, i1, i1, i1, i32
}

// An f32 does not have all values of an i32; products that may overflow stay.
// CHECK-LABEL: func.func @kept(
// CHECK-DAG:   arith.cmpf
// CHECK-DAG:   arith.divsi
// CHECK-NOT:   arith.divui
// CHECK:       return
func.func @kept(%x: i32, %y: i32) -> (i1, i32, i32) {
  %f = arith.sitofp %x : i32 to f32
  %limit = arith.constant 4.5 : f32
  %0 = arith.cmpf olt, %f, %limit : f32
  %a = arith.muli %x, %y : i32
  %1 = arith.divsi %a, %y : i32
  %b = arith.muli %x, %y overflow<nuw> : i32
  %2 = arith.divui %b, %y : i32
  return %0, %1, %2 : i1, i32, i32
}
