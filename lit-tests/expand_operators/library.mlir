// Operators of the library by name, before and after they are expanded.
// RUN: sutura-opt %s --operators builtin --propagate-shapes --expand-operators --check-passes -o %t.out
// RUN: FileCheck %s --input-file=%t.out
// RUN: sutura-opt %s --operators builtin --propagate-shapes --expand-operators --canonicalize --cse --stitch --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: not sutura-opt %s --operators builtin --convert-graph-to-gir 2>&1 | FileCheck %s --check-prefix=LATE

// CHECK-LABEL: func.func @block
// CHECK-NOT: graph.apply
// REMARK: it computes hard_swish '/mul', softmax '/softmax'
// LATE: 'graph.apply' op has no place in a host program
// LATE: run 'expand-operators' before this pass
func.func @block(%x: tensor<?x64xf32, #dyn.shape<[N, 64]>>) -> tensor<?x64xf32, #dyn.shape<[N, 64]>> {
  %0 = graph.apply @hard_swish(%x) : (tensor<?x64xf32, #dyn.shape<[N, 64]>>) -> tensor<?x64xf32, #dyn.shape<[N, 64]>> loc("/mul")
  %1 = graph.apply @softmax(%0) : (tensor<?x64xf32, #dyn.shape<[N, 64]>>) -> tensor<?x64xf32, #dyn.shape<[N, 64]>> loc("/softmax")
  return %1 : tensor<?x64xf32, #dyn.shape<[N, 64]>>
}

// CHECK-LABEL: func.func @images
func.func @images(%x: tensor<2x3x4x5xf32>, %c: tensor<3xf32>) -> (tensor<2x3x4x5xf32>, tensor<2x3x1x1xf32>) {
  %0 = graph.apply @instance_norm(%x, %c, %c) {epsilon = 0.5 : f32} : (tensor<2x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4x5xf32>
  %1 = graph.apply @global_max_pool(%x) : (tensor<2x3x4x5xf32>) -> tensor<2x3x1x1xf32>
  return %0, %1 : tensor<2x3x4x5xf32>, tensor<2x3x1x1xf32>
}

// CHECK-LABEL: func.func @masks
func.func @masks(%x: tensor<2x3x4xi64>, %k: tensor<i64>, %y: tensor<3x4xf32>) -> (tensor<2x3x4xi64>, tensor<3x4xf32>, tensor<i64>) {
  %0 = graph.apply @trilu(%x, %k) {upper = 0 : i64} : (tensor<2x3x4xi64>, tensor<i64>) -> tensor<2x3x4xi64>
  %1 = graph.apply @hardmax_from(%y) {axis = 0 : i64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %2 = graph.apply @size(%y) : (tensor<3x4xf32>) -> tensor<i64>
  return %0, %1, %2 : tensor<2x3x4xi64>, tensor<3x4xf32>, tensor<i64>
}
