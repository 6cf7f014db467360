// RUN: sutura-opt %s --propagate-shapes --check-passes --strict | FileCheck %s

// A slice from the end begins at a size, which is 0 where the tensor is short: it says no extent there either.
// CHECK-LABEL: func.func @nothing
// CHECK: graph.compute
func.func @nothing(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = graph.slice %x {axes = array<i64: 1>, ends = array<i64: -9223372036854775808>, starts = array<i64: -3>, steps = array<i64: 1>} : tensor<?x?xf32> -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @but_the_last
// CHECK: graph.compute
func.func @but_the_last(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = graph.slice %x {axes = array<i64: 0>, ends = array<i64: -1>, starts = array<i64: -3>, steps = array<i64: 1>} : tensor<?xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
