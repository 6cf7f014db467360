// RUN: sutura-opt %s --inline-decided --check-passes | FileCheck %s
// RUN: sutura-opt %s --inline-decided --propagate-shapes | FileCheck %s --check-prefix=SHAPES
// RUN: sutura-opt %s --inline-decided --remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: remark: call of '@places' is inlined
// REMARK: remark: '@places' is erased
// CHECK-NOT: func.func private @places
// CHECK-NOT: func.func private @through
func.func private @places(%x: tensor<?xf32, #dyn.shape<[N]>>) -> tensor<1x?xi64, #dyn.shape<[1, K]>> {
  %p = graph.non_zero %x : tensor<?xf32, #dyn.shape<[N]>> -> tensor<1x?xi64, #dyn.shape<[1, K]>>
  return %p : tensor<1x?xi64, #dyn.shape<[1, K]>>
}

func.func private @through(%x: tensor<?xf32, #dyn.shape<[M]>>) -> tensor<1x?xi64, #dyn.shape<[1, P]>> {
  %p = call @places(%x) : (tensor<?xf32, #dyn.shape<[M]>>) -> tensor<1x?xi64, #dyn.shape<[1, P]>>
  return %p : tensor<1x?xi64, #dyn.shape<[1, P]>>
}

// What decides nothing stays a function.
// CHECK: func.func private @same
func.func private @same(%x: tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
  return %x : tensor<?xf32, #dyn.shape<[N]>>
}

// Each call decides another size.
// CHECK-LABEL: func.func @main(
// CHECK: graph.non_zero
// CHECK: call @same
// CHECK: graph.non_zero
// SHAPES-LABEL: func.func @main(
// SHAPES-SAME: -> (tensor<1x?xi64, #dyn.shape<[1, K_2]>>, tensor<1x?xi64, #dyn.shape<[1, P_2]>>)
// SHAPES: graph.non_zero %{{.*}} -> tensor<1x?xi64, #dyn.shape<[1, K_2]>>
// SHAPES: graph.non_zero %{{.*}} -> tensor<1x?xi64, #dyn.shape<[1, P_2]>>
func.func @main(%x: tensor<?xf32, #dyn.shape<[N]>>) -> (tensor<1x?xi64>, tensor<1x?xi64>) {
  %a = call @places(%x) : (tensor<?xf32, #dyn.shape<[N]>>) -> tensor<1x?xi64>
  %y = call @same(%x) : (tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>>
  %b = call @through(%y) : (tensor<?xf32, #dyn.shape<[N]>>) -> tensor<1x?xi64>
  return %a, %b : tensor<1x?xi64>, tensor<1x?xi64>
}

// In a side of a condition it is not one size.
func.func private @kept(%x: tensor<?xf32, #dyn.shape<[N]>>) -> tensor<1x?xi64, #dyn.shape<[1, K]>> {
  %p = graph.non_zero %x : tensor<?xf32, #dyn.shape<[N]>> -> tensor<1x?xi64, #dyn.shape<[1, K]>>
  return %p : tensor<1x?xi64, #dyn.shape<[1, K]>>
}

// CHECK-LABEL: func.func @condition(
// CHECK: scf.if
// CHECK: call @kept
func.func @condition(%c: tensor<i1>, %x: tensor<?xf32, #dyn.shape<[N]>>, %y: tensor<1x?xi64>) -> tensor<1x?xi64> {
  %f = tensor.extract %c[] : tensor<i1>
  %r = scf.if %f -> (tensor<1x?xi64>) {
    %a = func.call @kept(%x) : (tensor<?xf32, #dyn.shape<[N]>>) -> tensor<1x?xi64>
    scf.yield %a : tensor<1x?xi64>
  } else {
    scf.yield %y : tensor<1x?xi64>
  }
  return %r : tensor<1x?xi64>
}
