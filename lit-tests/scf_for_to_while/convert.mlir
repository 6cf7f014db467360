// RUN: sutura-opt %s --scf-for-to-while --check-passes | FileCheck %s
// RUN: sutura-opt %s --scf-for-to-while --remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: sutura-opt %s --scf-for-to-while | sutura-opt --scf-for-to-while -o /dev/null

// REMARK: remark: 'scf.for' is an 'scf.while' now

// CHECK-LABEL: func.func @sum
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK: %{{.*}}, %r = scf.while (%[[I:.*]] = %[[C0]], %[[S:.*]] = %{{.*}}) : (index, index) -> (index, index) {
// CHECK-NEXT: %[[MORE:.*]] = arith.cmpi slt, %[[I]], %n : index
// CHECK-NEXT: scf.condition(%[[MORE]]) %[[I]], %[[S]] : index, index
// CHECK: ^bb0(%[[I:.*]]: index, %[[S:.*]]: index):
// CHECK-NEXT: %[[T:.*]] = arith.addi %[[S]], %[[I]] : index
// CHECK-NEXT: %[[N:.*]] = arith.addi %[[I]], %[[C2]] : index
// CHECK-NEXT: scf.yield %[[N]], %[[T]] : index, index
// CHECK: return %r : index
func.func @sum(%n: index) -> index {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %r = scf.for %i = %c0 to %n step %c2 iter_args(%s = %c0) -> (index) {
    %t = arith.addi %s, %i : index
    scf.yield %t : index
  }
  return %r : index
}

// A loop in a loop, and one that carries nothing and counts without a sign.
// CHECK-LABEL: func.func @nested
// CHECK-NOT: scf.for
// CHECK: arith.cmpi ult
func.func @nested(%n: i32, %m: memref<4xi32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %z = arith.constant 0 : index
  %o = arith.constant 1 : index
  %e = arith.constant 3 : index
  scf.for unsigned %i = %c0 to %c1 step %c1 : i32 {
    scf.for %j = %z to %e step %o {
      memref.store %i, %m[%j] : memref<4xi32>
    }
  }
  return
}

// What a loop does whose step is not positive is not defined; it might never end.
// REMARK: remark: 'scf.for' stays: its step is not a constant, so nothing says that it is greater than 0
// REMARK: remark: 'scf.for' stays: its step is 0; it must be greater than 0
// CHECK-LABEL: func.func @stays
// CHECK: scf.for
// CHECK: scf.for
func.func @stays(%n: index, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %a = scf.for %i = %c0 to %c0 step %c0 iter_args(%p = %x) -> (tensor<4xf32>) {
    scf.yield %p : tensor<4xf32>
  }
  %b = scf.for %i = %c0 to %c0 step %n iter_args(%p = %a) -> (tensor<4xf32>) {
    scf.yield %p : tensor<4xf32>
  }
  return %b : tensor<4xf32>
}
