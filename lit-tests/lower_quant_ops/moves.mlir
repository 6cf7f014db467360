// RUN: sutura-opt %s --lower-quant-ops --check-passes --strict | FileCheck %s
// RUN: sutura-opt %s --propagate-shapes | sutura-opt --lower-quant-ops --check-passes --strict -o %t.mlir
// RUN: sutura-opt %s --pass-pipeline='builtin.module(propagate-shapes,lower-quant-ops,legalize-elements,func.func(stitch),convert-graph-to-gir,convert-gir-to-cpu)' --check-passes=2 --strict -o %t.mlir

!q = !quant.uniform<u8:f32, 0.5:3>
!a = !quant.uniform<i8:f32:1, {1.0, 2.0, 3.0}>
#id = affine_map<(d0, d1) -> (d0, d1)>
#back = affine_map<(d0, d1) -> (d1, d0)>

// What only moves stored integers moves the integers; those without sign are such in tensors, and signless in functions of elements.
// CHECK-LABEL: func.func @moved(%x: tensor<4x6xui8>, %c: tensor<4x3xi1>) -> tensor<3x4xui8>
// CHECK-NOT: quant
// CHECK: graph.reshape %x : tensor<4x6xui8> -> tensor<8x3xui8>
// CHECK: ^bb0(%{{.*}}: i8, %{{.*}}: i8, %{{.*}}: i1):
// CHECK: return
func.func @moved(%x: tensor<4x6x!q>, %c: tensor<4x3xi1>) -> tensor<3x4x!q> {
  %0 = graph.reshape %x : tensor<4x6x!q> -> tensor<8x3x!q>
  %1 = graph.slice %0 {axes = array<i64: 0>, starts = array<i64: 1>, ends = array<i64: 7>, steps = array<i64: 2>} : tensor<8x3x!q> -> tensor<3x3x!q>
  %2 = graph.concat %1, %0 {axis = 0} : tensor<3x3x!q>, tensor<8x3x!q> -> tensor<11x3x!q>
  %3 = graph.slice %2 {axes = array<i64: 0>, starts = array<i64: 0>, ends = array<i64: 4>, steps = array<i64: 1>} : tensor<11x3x!q> -> tensor<4x3x!q>
  %4 = graph.slice %0 {axes = array<i64: 0>, starts = array<i64: 4>, ends = array<i64: 8>, steps = array<i64: 1>} : tensor<8x3x!q> -> tensor<4x3x!q>
  %5 = graph.compute ins(%3, %4, %c : tensor<4x3x!q>, tensor<4x3x!q>, tensor<4x3xi1>) -> tensor<3x4x!q> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#back, #back, #back, #id]} {
  ^bb0(%a: !q, %b: !q, %t: i1):
    %s = arith.select %t, %a, %b : !q
    graph.yield %s : !q
  }
  return %5 : tensor<3x4x!q>
}

// Where scales belong to positions, what keeps these may be moved.
// CHECK-LABEL: func.func @kept(%x: tensor<?x3xi8>) -> (tensor<2x3xi8>, tensor<?x3xi8>)
// CHECK-NOT: quant
func.func @kept(%x: tensor<?x3x!a>) -> (tensor<2x3x!a>, tensor<?x3x!a>) {
  %0 = graph.concat %x, %x {axis = 0} : tensor<?x3x!a>, tensor<?x3x!a> -> tensor<?x3x!a>
  %i = graph.constant dense<[0, 1]> : tensor<2xi64>
  %1 = graph.constant dense<1.5> : tensor<2x3xf32>
  %2 = quant.qcast %1 : tensor<2x3xf32> to tensor<2x3x!a>
  %3 = graph.gather %2, %i {axis = 0} : tensor<2x3x!a>, tensor<2xi64> -> tensor<2x3x!a>
  return %3, %0 : tensor<2x3x!a>, tensor<?x3x!a>
}

// The bits of stored integers without sign are those of signless ones.
// CHECK-LABEL: func.func @stored(%x: tensor<4xui8>, %y: tensor<4xi8>) -> (tensor<4xi8>, tensor<4xui8>, tensor<4xi8>)
// CHECK: graph.bitcast %x : tensor<4xui8> -> tensor<4xi8>
// CHECK: graph.bitcast %y : tensor<4xi8> -> tensor<4xui8>
// CHECK: return %{{.*}}, %{{.*}}, %y
func.func @stored(%x: tensor<4x!q>, %y: tensor<4xi8>) -> (tensor<4xi8>, tensor<4x!q>, tensor<4xi8>) {
  %0 = quant.scast %x : tensor<4x!q> to tensor<4xi8>
  %1 = quant.scast %y : tensor<4xi8> to tensor<4x!q>
  %2 = quant.scast %y : tensor<4xi8> to tensor<4x!quant.any<i8>>
  %3 = quant.scast %2 : tensor<4x!quant.any<i8>> to tensor<4xi8>
  return %0, %1, %3 : tensor<4xi8>, tensor<4x!q>, tensor<4xi8>
}

// A function that is called has the integers too.
// CHECK-LABEL: func.func @caller(%x: tensor<4xui8>) -> tensor<4xui8>
// CHECK: call @nothing(%x) : (tensor<4xui8>) -> tensor<4xui8>
// CHECK: func.func @nothing(%x: tensor<4xui8>) -> tensor<4xui8>
func.func @caller(%x: tensor<4x!q>) -> tensor<4x!q> {
  %0 = func.call @nothing(%x) : (tensor<4x!q>) -> tensor<4x!q>
  return %0 : tensor<4x!q>
}
func.func @nothing(%x: tensor<4x!q>) -> tensor<4x!q> {
  return %x : tensor<4x!q>
}
