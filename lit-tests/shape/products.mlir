// Numbers of elements that must be equal, and remainders of sizes.

// RUN: sutura-opt %s --split-input-file --propagate-shapes | FileCheck %s

// The factor that both have is at least 1, so that the other one is told.
// CHECK-LABEL: func.func @solved
// CHECK: dyn.symbol "B" {range = [0, 50]}
// CHECK: graph.reshape %{{.*}} -> tensor<?x6xf32, #dyn.shape<[A, 6]>>
// CHECK: graph.compute {{.*}} -> tensor<6xf32>
func.func @solved(%x: tensor<?x?xf32, #dyn.shape<[A, B]>>, %w: tensor<?xf32, #dyn.shape<[B]>>) -> (tensor<?x6xf32, #dyn.shape<[A, 6]>>, tensor<?xf32>) {
  %A = dyn.symbol "A" {range = [1, 50]} : index
  %B = dyn.symbol "B" {range = [0, 50]} : index
  %y = graph.reshape %x : tensor<?x?xf32, #dyn.shape<[A, B]>> -> tensor<?x6xf32, #dyn.shape<[A, 6]>>
  %z = graph.compute ins(%w : tensor<?xf32, #dyn.shape<[B]>>) -> tensor<?xf32>
      {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  return %y, %z : tensor<?x6xf32, #dyn.shape<[A, 6]>>, tensor<?xf32>
}

// -----

// T is a multiple of 4, so S leaves 3: nothing is left to be checked of the reshape.
// CHECK-LABEL: func.func @remainder
// CHECK: dyn.equal [T], [S + 1]
// CHECK-NOT: dyn.equal
// CHECK: graph.reshape %{{.*}} -> tensor<?x4xf32, #dyn.shape<[(S + 1) floordiv 4, 4]>>
func.func @remainder(%x: tensor<?xf32, #dyn.shape<[T]>>, %s: tensor<?xf32, #dyn.shape<[S]>>) -> tensor<?x4xf32, #dyn.shape<[T floordiv 4, 4]>> {
  %S = dyn.symbol "S" : index
  %T = dyn.symbol "T" {div = 4} : index
  dyn.equal [T], [S + 1]
  %y = graph.reshape %x : tensor<?xf32, #dyn.shape<[T]>> -> tensor<?x4xf32, #dyn.shape<[T floordiv 4, 4]>>
  return %y : tensor<?x4xf32, #dyn.shape<[T floordiv 4, 4]>>
}
