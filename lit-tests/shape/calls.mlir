// RUN: sutura-opt %s --propagate-shapes --split-input-file | FileCheck %s
// RUN: sutura-opt %s --propagate-shapes --split-input-file | sutura-opt --propagate-shapes --split-input-file | FileCheck %s

// A function is followed before those that call it; at each call its symbols stand for other sizes, also where names are the
// same.
// CHECK-LABEL: func.func @caller
// CHECK-SAME: -> (tensor<?x4xf32, #dyn.shape<[8*N, 4]>>, tensor<6x4xf32>)
// CHECK: call @double(%x) : (tensor<?x4xf32, #dyn.shape<[4*N, 4]>>) -> tensor<?x4xf32, #dyn.shape<[8*N, 4]>>
// CHECK: call @double(%z) : (tensor<3x4xf32>) -> tensor<6x4xf32>
func.func @caller(%x: tensor<?x4xf32, #dyn.shape<[4*N, 4]>>, %z: tensor<3x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %y = call @double(%x) : (tensor<?x4xf32, #dyn.shape<[4*N, 4]>>) -> tensor<?x4xf32>
  %w = call @double(%z) : (tensor<3x4xf32>) -> tensor<?x4xf32>
  return %y, %w : tensor<?x4xf32>, tensor<?x4xf32>
}

// CHECK-LABEL: func.func private @double
// CHECK-SAME: (%x: tensor<?x4xf32, #dyn.shape<[N, 4]>>) -> tensor<?x4xf32, #dyn.shape<[2*N, 4]>>
func.func private @double(%x: tensor<?x4xf32, #dyn.shape<[N, 4]>>) -> tensor<?x4xf32> {
  %y = graph.concat %x, %x {axis = 0} : tensor<?x4xf32, #dyn.shape<[N, 4]>>, tensor<?x4xf32, #dyn.shape<[N, 4]>> -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// -----

// What a function takes and states of its sizes is needed where it is called: two sizes are one, one is a multiple.
// CHECK-LABEL: func.func @needs
// CHECK: dyn.equal [A], [B] {source = "func.call: dimension 0 of argument 1 and what @add takes"}
// CHECK: dyn.equal [A], [8*(A floordiv 8)] {source = "func.call: `K` of @add, a multiple of 8"}
// CHECK: call @add(%a, %b) : (tensor<?xf32, #dyn.shape<[A]>>, tensor<?xf32, #dyn.shape<[{{A|B}}]>>) -> tensor<?xf32, #dyn.shape<[A]>>
func.func @needs(%a: tensor<?xf32, #dyn.shape<[A]>>, %b: tensor<?xf32, #dyn.shape<[B]>>) -> tensor<?xf32> {
  %y = call @add(%a, %b) : (tensor<?xf32, #dyn.shape<[A]>>, tensor<?xf32, #dyn.shape<[B]>>) -> tensor<?xf32, #dyn.shape<[A]>>
  %z = tensor.cast %y : tensor<?xf32, #dyn.shape<[A]>> to tensor<?xf32>
  return %z : tensor<?xf32>
}
func.func private @add(%x: tensor<?xf32, #dyn.shape<[K]>>, %y: tensor<?xf32, #dyn.shape<[K]>>) -> tensor<?xf32, #dyn.shape<[K]>> {
  %K = dyn.symbol "K" {div = 8} : index
  return %x : tensor<?xf32, #dyn.shape<[K]>>
}

// -----

// A size that follows from nothing in the function follows from nothing at the call.
// CHECK-LABEL: func.func @unknown
// CHECK: call @part({{.*}}) : {{.*}} -> tensor<?xf32, #dyn.shape<[func_call_0]>>
func.func @unknown(%x: tensor<?xf32, #dyn.shape<[N]>>, %e: tensor<1xi64>) -> tensor<?xf32> {
  %y = call @part(%x, %e) : (tensor<?xf32, #dyn.shape<[N]>>, tensor<1xi64>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}
// CHECK-LABEL: func.func private @part
// CHECK-SAME: -> tensor<?xf32, #dyn.shape<[slice_0]>>
func.func private @part(%x: tensor<?xf32, #dyn.shape<[N]>>, %e: tensor<1xi64>) -> tensor<?xf32> {
  %s = graph.constant dense<0> : tensor<1xi64>
  %y = graph.slice %x[%s, %e] {axes = array<i64: 0>, steps = array<i64: 1>} : tensor<?xf32, #dyn.shape<[N]>>, tensor<1xi64>, tensor<1xi64> -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// A recursive function, and one that is a value, keep their types.
// CHECK-LABEL: func.func @again
// CHECK-SAME: (%x: tensor<?xf32>) -> tensor<?xf32>
// CHECK: call @again(%{{.*}}) : (tensor<?xf32>) -> tensor<?xf32>
func.func @again(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = call @again(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}
// CHECK-LABEL: func.func @value
func.func @value() -> ((tensor<?xf32>) -> tensor<?xf32>) {
  %f = func.constant @named : (tensor<?xf32>) -> tensor<?xf32>
  return %f : (tensor<?xf32>) -> tensor<?xf32>
}
// CHECK-LABEL: func.func @named(%x: tensor<?xf32>) -> tensor<?xf32>
func.func @named(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
