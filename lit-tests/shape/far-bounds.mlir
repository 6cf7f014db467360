// RUN: sutura-opt %s --propagate-shapes | FileCheck %s

// Bounds near the ends of 64 bits are bounds as any other: what is left is nothing.
// CHECK-LABEL: func.func @far
// CHECK: graph.slice
// CHECK-SAME: tensor<0xf32>
func.func @far(%x: tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32> {
  %N = dyn.symbol "N" {range = [0, 2147483647]} : index
  %y = graph.slice %x {axes = array<i64: 0>, starts = array<i64: 4611686018427387904>, ends = array<i64: -9223372036854775808>, steps = array<i64: 1>}
      : tensor<?xf32, #dyn.shape<[N]>> -> tensor<?xf32>
  return %y : tensor<?xf32>
}
