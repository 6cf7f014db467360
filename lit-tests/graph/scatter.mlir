// RUN: sutura-opt %s | sutura-opt | FileCheck %s
// RUN: sutura-opt %s --mlir-print-op-generic | sutura-opt | FileCheck %s

// CHECK-LABEL: func.func @elements
// CHECK: graph.scatter %x, %i, %u {axis = 1 : i64, combiner = #graph.combiner<add>} : tensor<?x30xf32>, tensor<?x4xi64>, tensor<?x4xf32> -> tensor<?x30xf32>
func.func @elements(%x: tensor<?x30xf32>, %i: tensor<?x4xi64>, %u: tensor<?x4xf32>) -> tensor<?x30xf32> {
  %y = graph.scatter %x, %i, %u {axis = 1 : i64, combiner = #graph.combiner<add>} : tensor<?x30xf32>, tensor<?x4xi64>, tensor<?x4xf32> -> tensor<?x30xf32>
  return %y : tensor<?x30xf32>
}

// CHECK-LABEL: func.func @slices
// CHECK: graph.scatter %x, %i, %u : tensor<30x20x8xf32>, tensor<?x2xi64>, tensor<?x8xf32> -> tensor<30x20x8xf32>
func.func @slices(%x: tensor<30x20x8xf32>, %i: tensor<?x2xi64>, %u: tensor<?x8xf32>) -> tensor<30x20x8xf32> {
  %y = graph.scatter %x, %i, %u : tensor<30x20x8xf32>, tensor<?x2xi64>, tensor<?x8xf32> -> tensor<30x20x8xf32>
  return %y : tensor<30x20x8xf32>
}

// CHECK-LABEL: func.func @region
// CHECK: graph.scatter %x, %i, %u {axis = 0 : i64} : tensor<8xui32>, tensor<4xi64>, tensor<4xui32> -> tensor<8xui32> combine {
// CHECK-NEXT: ^bb0(%[[OLD:.*]]: i32, %[[NEW:.*]]: i32):
// CHECK-NEXT: arith.xori %[[OLD]], %[[NEW]] : i32
func.func @region(%x: tensor<8xui32>, %i: tensor<4xi64>, %u: tensor<4xui32>) -> tensor<8xui32> {
  %y = graph.scatter %x, %i, %u {axis = 0 : i64} : tensor<8xui32>, tensor<4xi64>, tensor<4xui32> -> tensor<8xui32> combine {
  ^bb0(%old: i32, %new: i32):
    %0 = arith.xori %old, %new : i32
    graph.yield %0 : i32
  }
  return %y : tensor<8xui32>
}
