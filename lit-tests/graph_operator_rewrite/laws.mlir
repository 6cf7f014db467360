// Laws that keep every bit need no permission.
// RUN: sutura-opt %s --operators builtin --graph-operator-rewrite --check-passes -o %t.out
// RUN: FileCheck %s --input-file=%t.out
// RUN: sutura-opt %s --operators builtin --graph-operator-rewrite --remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=SAID

!f = tensor<?x3xf16, #dyn.shape<[M, 3]>>
!i = tensor<?xi32, #dyn.shape<[M]>>

// CHECK-LABEL: func.func @idempotent
// CHECK: %[[ONCE:.*]] = graph.apply @sign(%x)
// CHECK-NEXT: return %[[ONCE]]
// SAID-DAG: @sign of @sign is @sign
func.func @idempotent(%x: !f) -> !f {
  %0 = graph.apply @sign(%x) : (!f) -> !f
  %1 = graph.apply @sign(%0) : (!f) -> !f
  %2 = graph.apply @sign(%1) : (!f) -> !f
  return %2 : !f
}

// CHECK-LABEL: func.func @same_attributes
// CHECK: %[[ONCE:.*]] = graph.apply @thresholded_relu(%x) {alpha = -5.000000e-01 : f32}
// CHECK-NEXT: return %[[ONCE]]
func.func @same_attributes(%x: !f) -> !f {
  %0 = graph.apply @thresholded_relu(%x) {alpha = -0.5 : f32} : (!f) -> !f
  %1 = graph.apply @thresholded_relu(%0) {alpha = -0.5 : f32} : (!f) -> !f
  return %1 : !f
}

// CHECK-LABEL: func.func @other_attributes
// CHECK-COUNT-2: graph.apply @thresholded_relu
func.func @other_attributes(%x: !f) -> !f {
  %0 = graph.apply @thresholded_relu(%x) {alpha = 0.5 : f32} : (!f) -> !f
  %1 = graph.apply @thresholded_relu(%0) : (!f) -> !f
  return %1 : !f
}

// What is used elsewhere stays.
// CHECK-LABEL: func.func @involution
// CHECK: %[[NOT:.*]] = graph.apply @bitwise_not(%x)
// CHECK-NEXT: return %[[NOT]], %x
// SAID-DAG: @bitwise_not of @bitwise_not is what it is applied to
func.func @involution(%x: !i) -> (!i, !i) {
  %0 = graph.apply @bitwise_not(%x) : (!i) -> !i
  %1 = graph.apply @bitwise_not(%0) : (!i) -> !i
  return %0, %1 : !i, !i
}

// CHECK-LABEL: func.func @others
// CHECK: graph.apply @sigmoid
// CHECK: graph.apply @sigmoid
// CHECK: graph.apply @sign
// CHECK: graph.apply @thresholded_relu
func.func @others(%x: !f) -> !f {
  %0 = graph.apply @sigmoid(%x) : (!f) -> !f
  %1 = graph.apply @sigmoid(%0) : (!f) -> !f
  %2 = graph.apply @sign(%1) : (!f) -> !f
  %3 = graph.apply @thresholded_relu(%2) : (!f) -> !f
  return %3 : !f
}
