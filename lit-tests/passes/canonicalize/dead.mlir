// RUN: sutura-opt %s --canonicalize --allow-unregistered-dialect | FileCheck %s

// Operations without effect whose results are unused go, also when they use each other.

// CHECK-LABEL: func.func @unused(
// CHECK-NEXT:    return
func.func @unused(%x: i32) {
  %a = arith.addi %x, %x : i32
  %b = arith.muli %a, %x : i32
  %c = arith.subi %b, %a : i32
  return
}

// Loads go, stores and calls stay.

// CHECK-LABEL: func.func @effects(
// CHECK-SAME:    %[[M:.*]]: memref<4xi32>, %[[I:.*]]: index, %[[X:.*]]: i32
// CHECK-NEXT:    memref.store %[[X]], %[[M]][%[[I]]]
// CHECK-NEXT:    %{{.*}} = call @opaque()
// CHECK-NEXT:    return
func.func @effects(%m: memref<4xi32>, %i: index, %x: i32) {
  %a = memref.load %m[%i] : memref<4xi32>
  memref.store %x, %m[%i] : memref<4xi32>
  %b = call @opaque() : () -> i32
  return
}
func.func private @opaque() -> i32

// A loop in which nothing happens goes as a whole.

// CHECK-LABEL: func.func @loop(
// CHECK-NEXT:    return
func.func @loop(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %s = arith.addi %i, %i : index
  }
  return
}

// Nothing is known of operations that are not registered.

// CHECK-LABEL: func.func @unknown(
// CHECK-NEXT:    "foo.bar"()
func.func @unknown() {
  %a = "foo.bar"() : () -> i32
  return
}
