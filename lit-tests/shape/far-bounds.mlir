// RUN: sutura-opt %s --propagate-shapes | FileCheck %s

// Bounds near the ends of 64 bits are read as those just outside of the tensor. This slice is empty.
// CHECK-LABEL: func.func @far
// CHECK-SAME: -> tensor<0xf32>
// CHECK: return %{{.*}} : tensor<0xf32>
func.func @far(%x: tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32> {
  %N = dyn.symbol "N" {range = [0, 2147483647]} : index
  %y = graph.slice %x {axes = array<i64: 0>, starts = array<i64: 4611686018427387904>, ends = array<i64: -9223372036854775808>, steps = array<i64: 1>}
      : tensor<?xf32, #dyn.shape<[N]>> -> tensor<?xf32>
  return %y : tensor<?xf32>
}
