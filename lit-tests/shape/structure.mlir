// RUN: sutura-opt %s --propagate-shapes | FileCheck %s
// RUN: sutura-opt %s --propagate-shapes | sutura-opt --propagate-shapes | FileCheck %s

// CHECK-DAG: #[[BACK:.*]] = affine_map<(d0, d1) -> (d0, d1 * -2 + 8)>
// CHECK-DAG: #[[LAST:.*]] = affine_map<(d0, d1) -> (d0, d1 + 6)>
// CHECK-DAG: #[[BEHIND:.*]] = affine_map<(d0, d1) -> (d0, d1 - 9)>

// Bounds that count from the end, are clamped or go backwards are known where the size is.
// CHECK-LABEL: func.func @slices
// CHECK: graph.compute ins(%x : {{.*}}maps = [#[[BACK]], #
// CHECK: graph.compute ins(%x : {{.*}}maps = [#[[LAST]], #
func.func @slices(%x: tensor<?x9xf32>) -> (tensor<?x5xf32>, tensor<?x3xf32>) {
  %a = graph.slice %x {axes = array<i64: 1>, ends = array<i64: -100>, starts = array<i64: -1>, steps = array<i64: -2>}
      : tensor<?x9xf32> -> tensor<?x5xf32>
  %b = graph.slice %x {axes = array<i64: 1>, ends = array<i64: 100>, starts = array<i64: -3>, steps = array<i64: 1>}
      : tensor<?x9xf32> -> tensor<?x3xf32>
  return %a, %b : tensor<?x5xf32>, tensor<?x3xf32>
}

// Where a slice starts is not known before the program runs.
// CHECK-LABEL: func.func @open
// CHECK: graph.slice
func.func @open(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %a = graph.slice %x {axes = array<i64: 1>, ends = array<i64: 100>, starts = array<i64: -3>, steps = array<i64: 1>}
      : tensor<?x?xf32> -> tensor<?x?xf32>
  return %a : tensor<?x?xf32>
}

// Each element is read from its part.
// CHECK-LABEL: func.func @concat
// CHECK: graph.compute ins(%a, %b : {{.*}}#[[BEHIND]]
// CHECK: %[[AT:.*]] = graph.index 1
// CHECK: %[[HERE:.*]] = arith.cmpi sge, %[[AT]], %c9
// CHECK: arith.select %[[HERE]]
func.func @concat(%a: tensor<?x9xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c = graph.concat %a, %b {axis = 1 : i64} : tensor<?x9xf32>, tensor<?x?xf32> -> tensor<?x?xf32>
  return %c : tensor<?x?xf32>
}

// Where the second part starts is not known; and a list of integers may be a shape.
// CHECK-LABEL: func.func @apart
// CHECK: graph.concat
// CHECK: graph.concat
func.func @apart(%a: tensor<?xf32>, %b: tensor<?xf32>, %s: tensor<2xi64>) -> (tensor<?xf32>, tensor<4xi64>) {
  %c = graph.concat %a, %b {axis = 0 : i64} : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  %d = graph.concat %s, %s {axis = 0 : i64} : tensor<2xi64>, tensor<2xi64> -> tensor<4xi64>
  return %c, %d : tensor<?xf32>, tensor<4xi64>
}
