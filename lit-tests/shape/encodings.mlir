// RUN: sutura-opt %s --materialize-encodings | FileCheck %s
// RUN: sutura-opt %s --strip-encodings | FileCheck %s --check-prefix=STRIP
// RUN: sutura-opt %s --materialize-encodings --propagate-shapes | FileCheck %s --check-prefix=PROPAGATED

// CHECK-LABEL: func.func @f
// CHECK-SAME: (%x: tensor<?x4xf32, #dyn.shape<[?, 4]>>, %y: tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[?]>>
// STRIP-LABEL: func.func @f
// STRIP-SAME: (%x: tensor<?x4xf32>, %y: tensor<?xf32>) -> tensor<?xf32>
func.func @f(%x: tensor<?x4xf32>, %y: tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32> {
  // CHECK: -> tensor<?xf32, #dyn.shape<[?]>>
  // STRIP: -> tensor<?xf32>
  %0 = graph.reshape %x : tensor<?x4xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// What only the type tells stays, and so do the arguments that it needs.
// STRIP-LABEL: func.func @g
// STRIP-SAME: (%x: tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N + 1]>>
func.func @g(%x: tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N + 1]>> {
  // STRIP: -> tensor<?xf32, #dyn.shape<[N + 1]>>
  %0 = graph.compute ins(%x : tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N + 1]>> {
    iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], oob = [0.0 : f32]
  } {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  return %0 : tensor<?xf32, #dyn.shape<[N + 1]>>
}

// A constant's elements have its type.
// CHECK-LABEL: func.func @constants
// STRIP-LABEL: func.func @constants
func.func @constants(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: arith.constant dense<1.000000e+00> : tensor<2x3xf32, #dyn.shape<[2, 3]>>
  // STRIP: arith.constant dense<1.000000e+00> : tensor<2x3xf32>{{$}}
  %0 = arith.constant dense<1.0> : tensor<2x3xf32>
  // CHECK: arith.addf %x, %{{.*}} : tensor<2x3xf32, #dyn.shape<[2, 3]>>
  %1 = arith.addf %x, %0 : tensor<2x3xf32>
  // STRIP: arith.constant dense<2.000000e+00> : tensor<2x3xf32>{{$}}
  %2 = arith.constant dense<2.0> : tensor<2x3xf32, #dyn.shape<[2, 3]>>
  %3 = arith.cmpf ueq, %2, %2 : tensor<2x3xf32, #dyn.shape<[2, 3]>>
  return %1 : tensor<2x3xf32>
}

// Outside a function there are types as well.
// CHECK: %[[C:.*]] = arith.constant dense<3.000000e+00> : tensor<2xf32, #dyn.shape<[2]>>
// CHECK: arith.cmpf ueq, %[[C]], %[[C]] : tensor<2xf32, #dyn.shape<[2]>>
%outside = arith.constant dense<3.0> : tensor<2xf32>
%equal = arith.cmpf ueq, %outside, %outside : tensor<2xf32>

// A call that knew more of sizes than the function keeps what it knew beside it.
// STRIP-LABEL: func.func @caller
// STRIP: %[[IN:.*]] = tensor.cast %z : tensor<3x4xf32> to tensor<?x4xf32>
// STRIP: %[[OUT:.*]] = call @double(%[[IN]]) : (tensor<?x4xf32>) -> tensor<?x4xf32>
// STRIP: %[[KNOWN:.*]] = tensor.cast %[[OUT]] : tensor<?x4xf32> to tensor<6x4xf32>
// STRIP: return %[[KNOWN]] : tensor<6x4xf32>
func.func @caller(%z: tensor<3x4xf32>) -> tensor<6x4xf32> {
  %0 = func.call @double(%z) : (tensor<3x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}
func.func private @double(%x: tensor<?x4xf32, #dyn.shape<[N, 4]>>) -> tensor<?x4xf32, #dyn.shape<[2*N, 4]>> {
  %0 = graph.concat %x, %x {axis = 0} : tensor<?x4xf32, #dyn.shape<[N, 4]>>, tensor<?x4xf32, #dyn.shape<[N, 4]>> -> tensor<?x4xf32, #dyn.shape<[2*N, 4]>>
  return %0 : tensor<?x4xf32, #dyn.shape<[2*N, 4]>>
}

// Types that know sizes differently are of one type.
// CHECK-LABEL: func.func @partly
// CHECK: "arith.addf"(%x, %y) {{.*}} : (tensor<?xf32, #dyn.shape<[?]>>, tensor<4xf32, #dyn.shape<[4]>>) -> tensor<4xf32, #dyn.shape<[4]>>
func.func @partly(%x: tensor<?xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "arith.addf"(%x, %y) : (tensor<?xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// What takes an op's place is of its type, which the region's result repeats.
// PROPAGATED-LABEL: func.func @region
// PROPAGATED: graph.compute ins(%x : tensor<4xf32, #dyn.shape<[4]>>) -> tensor<4xf32, #dyn.shape<[4]>>
func.func @region(%f: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c = tensor.extract %f[] : tensor<i1>
  %r = scf.if %c -> (tensor<4xf32>) {
    %y = graph.concat %x {axis = 0} : tensor<4xf32> -> tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
