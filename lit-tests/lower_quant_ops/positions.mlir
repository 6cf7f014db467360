// RUN: sutura-opt %s --lower-quant-ops --check-passes --strict | FileCheck %s
// RUN: sutura-opt %s --canonicalize --cse --propagate-shapes --lower-quant-ops --canonicalize --check-passes --strict -o %t.mlir
// RUN: sutura-opt %s --pass-pipeline='builtin.module(propagate-shapes,lower-quant-ops,legalize-elements,propagate-reshapes,func.func(stitch),convert-graph-to-gir,convert-gir-to-cpu)' --check-passes=2 --strict -o %t.mlir

!rows = !quant.uniform<i8:f32:0, {1.0, 2.0:5, 3.0}>
!columns = !quant.uniform<i8:f32:1, {1.0, 2.0:5, 3.0}>
!tiles = !quant.uniform<u4:f32:{0:2, 1:3}, {{1.0, 2.0}, {3.0, 4.0}}>
!turned = !quant.uniform<u4:f32:{0:3, 1:2}, {{1.0, 3.0}, {2.0, 4.0}}>
#id = affine_map<(d0, d1) -> (d0, d1)>
#back = affine_map<(d0, d1) -> (d1, d0)>

// Scales go where their elements go.
// CHECK-LABEL: func.func @turned(%x: tensor<4x6xui4>) -> tensor<6x4xui4>
// CHECK-NOT: quant
func.func @turned(%x: tensor<4x6x!tiles>) -> tensor<6x4x!turned> {
  %0 = graph.compute ins(%x : tensor<4x6x!tiles>) -> tensor<6x4x!turned> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#back, #id]} {
  ^bb0(%e: !tiles):
    graph.yield %e : !tiles
  }
  return %0 : tensor<6x4x!turned>
}

// CHECK-LABEL: func.func @reshaped(%x: tensor<3x4xi8>) -> (tensor<1x3x4xi8>, tensor<12xi8>)
// CHECK-NOT: quant
func.func @reshaped(%x: tensor<3x4x!rows>) -> (tensor<1x3x4x!columns>, tensor<12x!quant.uniform<i8:f32:{0:4}, {1.0, 2.0:5, 3.0}>>) {
  %0 = graph.reshape %x : tensor<3x4x!rows> -> tensor<1x3x4x!columns>
  %1 = graph.reshape %0 : tensor<1x3x4x!columns> -> tensor<12x!quant.uniform<i8:f32:{0:4}, {1.0, 2.0:5, 3.0}>>
  return %0, %1 : tensor<1x3x4x!columns>, tensor<12x!quant.uniform<i8:f32:{0:4}, {1.0, 2.0:5, 3.0}>>
}

// CHECK-LABEL: func.func @sliced(%x: tensor<4x6xui4>) -> tensor<2x3xui4>
// CHECK-NOT: quant
func.func @sliced(%x: tensor<4x6x!tiles>) -> tensor<2x3x!quant.uniform<u4:f32, 3.0>> {
  %0 = graph.slice %x {axes = array<i64: 0, 1>, starts = array<i64: -2, 0>, ends = array<i64: 4, 3>, steps = array<i64: 1, 1>} : tensor<4x6x!tiles> -> tensor<2x3x!quant.uniform<u4:f32, 3.0>>
  return %0 : tensor<2x3x!quant.uniform<u4:f32, 3.0>>
}
