// RUN: sutura-opt %s --propagate-shapes --stitch | FileCheck %s
// RUN: sutura-opt %s --propagate-shapes | sutura-opt --stitch=planner=greedy | FileCheck %s

// A concatenation of concatenations with many parts is not fused: each element would be looked up in each part of each.
// CHECK-LABEL: func.func @concatenations
// CHECK: %[[PARTS:.*]] = graph.fusion
// CHECK: graph.fusion(%[[PARTS]]
// CHECK-SAME: reasons = [{{.*}}it would have 32 reads that may lie outside a tensor, of which 24 are allowed
func.func @concatenations(%x: tensor<3x4xf32>) -> tensor<93x4xf32> {
  %c = graph.concat %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x {axis = 0 : i64}
      : tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>
      -> tensor<48x4xf32>
  %y = graph.concat %c, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x {axis = 0 : i64}
      : tensor<48x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>
      -> tensor<93x4xf32>
  return %y : tensor<93x4xf32>
}

// With few parts it is.
// CHECK-LABEL: func.func @few
// CHECK: graph.fusion
// CHECK-NOT: graph.fusion
func.func @few(%x: tensor<3x4xf32>) -> tensor<9x4xf32> {
  %c = graph.concat %x, %x {axis = 0 : i64} : tensor<3x4xf32>, tensor<3x4xf32> -> tensor<6x4xf32>
  %y = graph.concat %c, %x {axis = 0 : i64} : tensor<6x4xf32>, tensor<3x4xf32> -> tensor<9x4xf32>
  return %y : tensor<9x4xf32>
}
