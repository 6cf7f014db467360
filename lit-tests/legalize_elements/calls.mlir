// RUN: sutura-opt %s --legalize-elements --check-passes --strict | FileCheck %s
// RUN: sutura-opt %s --legalize-elements --remarks -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: remark: 4 tensors hold integers in the place of ui32
// REMARK: remark: 'func.call' keeps its elements: it is not known what it does with them

// An op of which nothing is known gets what it asked for.
// CHECK-LABEL: func.func @called
// CHECK: %[[X:.*]] = graph.bitcast %x : tensor<4xui32> -> tensor<4xi32>
// CHECK: %[[A:.*]] = graph.reshape %[[X]] : tensor<4xi32> -> tensor<2x2xi32>
// CHECK: %[[B:.*]] = graph.bitcast %[[A]] : tensor<2x2xi32> -> tensor<2x2xui32>
// CHECK: %[[C:.*]] = call @other(%[[B]]) : (tensor<2x2xui32>) -> tensor<2x2xui32>
// CHECK: %[[D:.*]] = graph.bitcast %[[C]] : tensor<2x2xui32> -> tensor<2x2xi32>
func.func @called(%x: tensor<4xui32>) -> tensor<4xui32> {
  %0 = graph.reshape %x : tensor<4xui32> -> tensor<2x2xui32>
  %1 = func.call @other(%0) : (tensor<2x2xui32>) -> tensor<2x2xui32>
  %2 = graph.reshape %1 : tensor<2x2xui32> -> tensor<4xui32>
  return %2 : tensor<4xui32>
}
func.func @other(%x: tensor<2x2xui32>) -> tensor<2x2xui32> {
  return %x : tensor<2x2xui32>
}
