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

// Regions of such an op read what they did, made before it.
// CHECK-LABEL: func.func @inside
// CHECK: %[[X:.*]] = graph.bitcast %x : tensor<4xui8> -> tensor<4xi8>
// CHECK: %[[A:.*]] = graph.reshape %[[X]]
// CHECK-DAG: %[[B:.*]] = graph.bitcast %[[A]] : tensor<4xi8> -> tensor<4xui8>
// CHECK-DAG: %[[C:.*]] = graph.bitcast %[[X]] : tensor<4xi8> -> tensor<4xui8>
// CHECK: scf.if
// CHECK: scf.yield %[[B]], %[[C]] : tensor<4xui8>, tensor<4xui8>
// CHECK: scf.yield %[[C]], %[[B]]
func.func @inside(%x: tensor<4xui8>, %c: i1) -> (tensor<4xui8>, tensor<4xui8>) {
  %0 = graph.reshape %x : tensor<4xui8> -> tensor<4xui8>
  %1:2 = scf.if %c -> (tensor<4xui8>, tensor<4xui8>) {
    scf.yield %0, %x : tensor<4xui8>, tensor<4xui8>
  } else {
    scf.yield %x, %0 : tensor<4xui8>, tensor<4xui8>
  }
  return %1#0, %1#1 : tensor<4xui8>, tensor<4xui8>
}
