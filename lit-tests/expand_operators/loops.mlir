// A loop in the body of an operator: sizes, element types and attributes take their places in it as outside, and it does the same
// whether the operator is applied or expanded.
// RUN: sutura-opt %s --propagate-shapes --expand-operators --check-passes -o %t.out
// RUN: FileCheck %s --input-file=%t.out
// RUN: sutura-opt %s --canonicalize --cse --loop-invariant-code-motion --expand-operators --scf-for-to-while --scalars-to-tensors --outline-regions --canonicalize --check-passes -o %t.two
// RUN: FileCheck %s --check-prefix=OUTLINED --input-file=%t.two
// RUN: sutura-opt %s --scf-for-to-while | FileCheck %s --check-prefix=KEPT
// RUN: sutura-opt %s --expand-operators --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// REMARK: @moving_average is expanded 2 times

#id2 = affine_map<(d0, d1) -> (d0, d1)>
!x = tensor<?x?xf32, #dyn.shape<[S, N]>>
!row = tensor<?xf32, #dyn.shape<[N]>>

// KEPT: graph.operator @moving_average
// KEPT: scf.for
graph.operator @moving_average {
  summary = "y[s] = rate * x[s] + (1 - rate) * y[s - 1]",
  elements = [f32, f64, f16], sizes = {N = "width"},
  attributes = {rate = 0.5 : f32, width = 0 : i64}, or_scalar = array<i64: 1>
} {
^bb0(%x: !x, %first: !row):
  %start = graph.compute ins(%first : !row) -> !row {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  %from = arith.constant 0 : index
  %step = arith.constant 1 : index
  %to = tensor.dim %x, %from : !x
  %y, %last = scf.for %i = %from to %to step %step iter_args(%made = %x, %before = %start) -> (!x, !row) {
    %number = arith.index_cast %i : index to i64
    %at = tensor.from_elements %number : tensor<i64>
    %place = tensor.from_elements %number : tensor<1xi64>
    %row = graph.gather %x, %at {axis = 0 : i64} : !x, tensor<i64> -> !row
    %next = graph.compute ins(%row, %before : !row, !row) -> !row
        {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
    ^bb0(%new: f32, %old: f32):
      %rate = graph.param "rate" : f32
      %one = arith.constant 1.0 : f32
      %rest = arith.subf %one, %rate : f32
      %a = arith.mulf %rate, %new : f32
      %b = arith.mulf %rest, %old : f32
      %r = arith.addf %a, %b : f32
      graph.yield %r : f32
    }
    %written = graph.scatter %made, %place, %next : !x, tensor<1xi64>, !row -> !x
    scf.yield %written, %next : !x, !row
  }
  graph.yield %y, %last : !x, !row
}

// CHECK-NOT: graph.operator
// CHECK-LABEL: func.func @half
// CHECK: %[[FIRST:.*]] = graph.compute ins(%z : tensor<f16>) -> tensor<?xf16, #dyn.shape<[M]>>
// CHECK: %[[SIZE:.*]] = tensor.dim %x
// CHECK: scf.for %{{.*}} to %[[SIZE]] {{.*}} -> (tensor<?x?xf16, #dyn.shape<[T, M]>>, tensor<?xf16, #dyn.shape<[M]>>) {
// CHECK: graph.gather %x, %{{.*}} {axis = 0 : i64} : tensor<?x?xf16, #dyn.shape<[T, M]>>, tensor<i64> -> tensor<?xf16, #dyn.shape<[M]>>
// CHECK: arith.constant 2.500000e-01 : f16
// CHECK: graph.scatter
// CHECK: scf.yield
// OUTLINED: scf.while
// OUTLINED: call @half_after
func.func @half(%x: tensor<?x?xf16, #dyn.shape<[T, M]>>, %z: tensor<f16>) -> tensor<?x?xf16, #dyn.shape<[T, M]>> {
  %y:2 = graph.apply @moving_average(%x, %z) {rate = 0.25 : f32} : (tensor<?x?xf16, #dyn.shape<[T, M]>>, tensor<f16>) -> (tensor<?x?xf16, #dyn.shape<[T, M]>>, tensor<?xf16, #dyn.shape<[M]>>)
  return %y#0 : tensor<?x?xf16, #dyn.shape<[T, M]>>
}

// CHECK-LABEL: func.func @nothing
func.func @nothing(%x: tensor<0x3xf64>, %z: tensor<3xf64>) -> (tensor<0x3xf64>, tensor<3xf64>) {
  %y:2 = graph.apply @moving_average(%x, %z) {width = 3 : i64} : (tensor<0x3xf64>, tensor<3xf64>) -> (tensor<0x3xf64>, tensor<3xf64>)
  return %y#0, %y#1 : tensor<0x3xf64>, tensor<3xf64>
}
