// RUN: sutura-opt %s --split-complex --check-passes --strict | FileCheck %s
// RUN: sutura-opt %s --pass-pipeline='builtin.module(propagate-shapes,split-complex,legalize-elements,func.func(stitch),convert-graph-to-gir,convert-gir-to-cpu)' --check-passes=2 --strict -o %t.mlir

// What only moves elements moves both parts.
// CHECK-LABEL: func.func @moved
// CHECK-COUNT-2: graph.reshape
// CHECK-COUNT-2: graph.slice
// CHECK-COUNT-2: graph.concat
// CHECK-COUNT-2: graph.gather
// CHECK: return
func.func @moved(%x: tensor<4x6xcomplex<f32>>, %i: tensor<3xi64>) -> tensor<3x3xcomplex<f32>> {
  %0 = graph.reshape %x : tensor<4x6xcomplex<f32>> -> tensor<8x3xcomplex<f32>>
  %1 = graph.slice %0 {axes = array<i64: 0>, starts = array<i64: 1>, ends = array<i64: 7>, steps = array<i64: 2>} : tensor<8x3xcomplex<f32>> -> tensor<3x3xcomplex<f32>>
  %2 = graph.concat %1, %0 {axis = 0} : tensor<3x3xcomplex<f32>>, tensor<8x3xcomplex<f32>> -> tensor<11x3xcomplex<f32>>
  %j = graph.constant dense<[0, 9, 4]> : tensor<3xi64>
  %3 = graph.gather %2, %j {axis = 0} : tensor<11x3xcomplex<f32>>, tensor<3xi64> -> tensor<3x3xcomplex<f32>>
  return %3 : tensor<3x3xcomplex<f32>>
}

// What adds elements adds both parts.
// CHECK-LABEL: func.func @added
// CHECK-COUNT-2: graph.scan %{{.*}} {axis = 1 : i64, combiner = #graph.combiner<add>, reverse} : tensor<2x3xf64>
// CHECK-COUNT-2: graph.scatter %{{.*}} {axis = 1 : i64, combiner = #graph.combiner<add>} : tensor<2x3xf64>
// CHECK: return
func.func @added(%x: tensor<2x3xcomplex<f64>>, %u: tensor<2x4xcomplex<f64>>) -> tensor<2x3xcomplex<f64>> {
  %i = graph.constant dense<[[0, 2, 2, -1], [1, 0, 1, 1]]> : tensor<2x4xi64>
  %0 = graph.scan %x {axis = 1, combiner = #graph.combiner<add>, reverse} : tensor<2x3xcomplex<f64>> -> tensor<2x3xcomplex<f64>>
  %1 = graph.scatter %0, %i, %u {axis = 1 : i64, combiner = #graph.combiner<add>} : tensor<2x3xcomplex<f64>>, tensor<2x4xi64>, tensor<2x4xcomplex<f64>> -> tensor<2x3xcomplex<f64>>
  return %1 : tensor<2x3xcomplex<f64>>
}

// An argument that is given back is not taken apart.
// CHECK-LABEL: func.func @nothing
// CHECK-NEXT: return %x
func.func @nothing(%x: tensor<0xcomplex<f64>>) -> tensor<0xcomplex<f64>> {
  return %x : tensor<0xcomplex<f64>>
}

// CHECK-LABEL: func.func @constants
// CHECK-DAG: dense<1.500000e+00> : tensor<2x2xf64>
// CHECK-DAG: dense<-2.000000e+00> : tensor<2x2xf64>
// CHECK-DAG: dense<{{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf64>
func.func @constants() -> (tensor<2x2xcomplex<f64>>, tensor<2xcomplex<f64>>) {
  %0 = graph.constant dense<(1.5, -2.0)> : tensor<2x2xcomplex<f64>>
  %1 = graph.constant dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f64>>
  return %0, %1 : tensor<2x2xcomplex<f64>>, tensor<2xcomplex<f64>>
}

// Parts that are asked for are given.
// CHECK-LABEL: func.func @parts
// CHECK: graph.bitcast %x : tensor<3x2xf32> -> tensor<3xcomplex<f32>>
// CHECK: graph.bitcast %y : tensor<3xcomplex<f32>> -> tensor<3x2xf32>
func.func @parts(%x: tensor<3x2xf32>, %y: tensor<3xcomplex<f32>>) -> (tensor<3xcomplex<f32>>, tensor<3x2xf32>) {
  %0 = graph.bitcast %x : tensor<3x2xf32> -> tensor<3xcomplex<f32>>
  %1 = graph.bitcast %y : tensor<3xcomplex<f32>> -> tensor<3x2xf32>
  return %0, %1 : tensor<3xcomplex<f32>>, tensor<3x2xf32>
}

// An op of which nothing is known gets what it asked for.
// CHECK-LABEL: func.func @called
// CHECK: %[[WHOLE:.*]] = graph.bitcast %{{.*}} : tensor<2x2x2xf32> -> tensor<2x2xcomplex<f32>>
// CHECK: %[[R:.*]] = call @nothing_more(%[[WHOLE]])
// CHECK: graph.bitcast %[[R]] : tensor<2x2xcomplex<f32>> -> tensor<2x2x2xf32>
func.func @called(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %0 = graph.reshape %x : tensor<4xcomplex<f32>> -> tensor<2x2xcomplex<f32>>
  %1 = func.call @nothing_more(%0) : (tensor<2x2xcomplex<f32>>) -> tensor<2x2xcomplex<f32>>
  %2 = graph.reshape %1 : tensor<2x2xcomplex<f32>> -> tensor<4xcomplex<f32>>
  return %2 : tensor<4xcomplex<f32>>
}
func.func @nothing_more(%x: tensor<2x2xcomplex<f32>>) -> tensor<2x2xcomplex<f32>> {
  return %x : tensor<2x2xcomplex<f32>>
}

// A splat of complex numbers is none of their parts.
// RUN: sutura-opt %s --canonicalize --split-complex --check-passes --strict | FileCheck %s --check-prefix=FOLDED
// FOLDED-LABEL: func.func @splat
func.func @splat() -> (tensor<2x2xf64>, tensor<2xcomplex<f32>>) {
  %0 = graph.constant dense<(1.5, -2.0)> : tensor<2xcomplex<f64>>
  %1 = graph.bitcast %0 : tensor<2xcomplex<f64>> -> tensor<2x2xf64>
  %2 = graph.constant dense<3.0> : tensor<2x2xf32>
  %3 = graph.bitcast %2 : tensor<2x2xf32> -> tensor<2xcomplex<f32>>
  return %1, %3 : tensor<2x2xf64>, tensor<2xcomplex<f32>>
}
