// RUN: sutura-opt %s --propagate-shapes --check-passes | FileCheck %s

// Scales state how many elements there are.
!one = !quant.uniform<i8:f32, 0.5>
!two = !quant.uniform<i8:f32:1, {0.5, 0.5}>
// CHECK-LABEL: func.func @stated
// CHECK-SAME: %x: tensor<?x2x!one, #dyn.shape<[N, 2]>>
func.func @stated(%x: tensor<?x?x!one, #dyn.shape<[N, M]>>) -> tensor<?x?x!two> {
  %0 = graph.concat %x, %x {axis = 0} : tensor<?x?x!one, #dyn.shape<[N, M]>>, tensor<?x?x!one, #dyn.shape<[N, M]>> -> tensor<?x?x!two>
  return %0 : tensor<?x?x!two>
}

// CHECK-LABEL: func.func @blocks
// CHECK-SAME: %x: tensor<8x!blocks>
!blocks = !quant.uniform<i8:f32:{0:4}, {0.5, 0.25}>
func.func @blocks(%x: tensor<?x!blocks>) -> tensor<?x!blocks> {
  %0 = graph.reshape %x : tensor<?x!blocks> -> tensor<?x!blocks>
  return %0 : tensor<?x!blocks>
}
