// RUN: sutura-opt %s --propagate-shapes | FileCheck %s

// A 0 copies a size of the input, so a size that may be 0 stands for itself only where that is 0 as well.
// CHECK-LABEL: func.func @copies
// CHECK: dyn.equal [N*min(M, 1)], [N]
func.func @copies(%x: tensor<?x4xf32, #dyn.shape<[N, 4]>>, %z: tensor<?x?xf32, #dyn.shape<[M, 4]>>) -> tensor<?x?xf32> {
  %s = graph.shape_of %z : tensor<?x?xf32, #dyn.shape<[M, 4]>> -> tensor<2xi64>
  %y = graph.reshape %x, %s : tensor<?x4xf32, #dyn.shape<[N, 4]>>, tensor<2xi64> -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
