// RUN: sutura-opt %s --propagate-shapes --split-input-file | FileCheck %s
// RUN: sutura-opt %s --propagate-shapes --split-input-file | sutura-opt --propagate-shapes --split-input-file | FileCheck %s

// Both sides agree on a size, and on another they do not.
// CHECK-LABEL: func.func @sides
// CHECK: scf.if %c -> (tensor<?xf32, #dyn.shape<[2*N]>>, tensor<?xf32, #dyn.shape<[scf_if_0]>>)
func.func @sides(%c: i1, %x: tensor<?xf32, #dyn.shape<[N]>>) -> (tensor<?xf32>, tensor<?xf32>) {
  %r:2 = scf.if %c -> (tensor<?xf32>, tensor<?xf32>) {
    %y = graph.concat %x, %x {axis = 0} : tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>> -> tensor<?xf32>
    scf.yield %y, %y : tensor<?xf32>, tensor<?xf32>
  } else {
    %y = graph.concat %x, %x {axis = 0} : tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>> -> tensor<?xf32>
    %z = tensor.cast %x : tensor<?xf32, #dyn.shape<[N]>> to tensor<?xf32>
    // CHECK: scf.yield %{{.*}}, %{{.*}} : tensor<?xf32, #dyn.shape<[2*N]>>, tensor<?xf32, #dyn.shape<[scf_if_0]>>
    scf.yield %y, %z : tensor<?xf32>, tensor<?xf32>
  }
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xf32>
}

// -----

// A loop keeps the size of what it carries, also where two such change places.
// CHECK-LABEL: func.func @swaps
// CHECK: scf.for {{.*}} -> (tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>)
func.func @swaps(%n: index, %x: tensor<?xf32, #dyn.shape<[N]>>, %y: tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tensor.cast %x : tensor<?xf32, #dyn.shape<[N]>> to tensor<?xf32>
  %b = tensor.cast %y : tensor<?xf32, #dyn.shape<[N]>> to tensor<?xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a, %q = %b) -> (tensor<?xf32>, tensor<?xf32>) {
    scf.yield %q, %p : tensor<?xf32>, tensor<?xf32>
  }
  return %r#0 : tensor<?xf32>
}

// -----

// What grows has no size that holds at all times; nothing is taken from the first iteration.
// CHECK-LABEL: func.func @grows
// CHECK: scf.while {{.*}} -> tensor<?xf32, #dyn.shape<[scf_while_0_2]>>
func.func @grows(%x: tensor<?xf32, #dyn.shape<[N]>>, %limit: tensor<i1>) -> tensor<?xf32> {
  %a = tensor.cast %x : tensor<?xf32, #dyn.shape<[N]>> to tensor<?xf32>
  %r = scf.while (%p = %a) : (tensor<?xf32>) -> tensor<?xf32> {
    %c = tensor.extract %limit[] : tensor<i1>
    scf.condition(%c) %p : tensor<?xf32>
  } do {
  ^bb0(%p: tensor<?xf32>):
    %y = graph.concat %p, %x {axis = 0} : tensor<?xf32>, tensor<?xf32, #dyn.shape<[N]>> -> tensor<?xf32>
    scf.yield %y : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

// What a side needs is no matter of runs that do not come there.
// CHECK-LABEL: func.func @guarded
// CHECK-NOT: dyn.equal
func.func @guarded(%c: i1, %x: tensor<?xf32, #dyn.shape<[N]>>, %y: tensor<?xf32, #dyn.shape<[M]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
  %r = scf.if %c -> (tensor<?xf32, #dyn.shape<[N]>>) {
    %z = graph.compute ins(%x, %y : tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[M]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
      iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
    } {
    ^bb0(%p: f32, %q: f32):
      %0 = arith.addf %p, %q : f32
      graph.yield %0 : f32
    }
    scf.yield %z : tensor<?xf32, #dyn.shape<[N]>>
  } else {
    scf.yield %x : tensor<?xf32, #dyn.shape<[N]>>
  }
  return %r : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

// Two that change together have one size each time.
// CHECK-LABEL: func.func @together
// CHECK: scf.while {{.*}} -> (tensor<?xf32, #dyn.shape<{{\[}}[[R:[a-z_0-9]+]]{{\]}}>>, tensor<?xf32, #dyn.shape<{{\[}}[[R]]{{\]}}>>)
func.func @together(%x: tensor<?xf32, #dyn.shape<[N]>>, %limit: tensor<i1>) -> (tensor<?xf32>, tensor<?xf32>) {
  %a = tensor.cast %x : tensor<?xf32, #dyn.shape<[N]>> to tensor<?xf32>
  %r:2 = scf.while (%p = %a, %q = %a) : (tensor<?xf32>, tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
    %c = tensor.extract %limit[] : tensor<i1>
    scf.condition(%c) %p, %q : tensor<?xf32>, tensor<?xf32>
  } do {
  ^bb0(%p: tensor<?xf32>, %q: tensor<?xf32>):
    %y = graph.concat %p, %x {axis = 0} : tensor<?xf32>, tensor<?xf32, #dyn.shape<[N]>> -> tensor<?xf32>
    %z = graph.concat %x, %q {axis = 0} : tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32> -> tensor<?xf32>
    scf.yield %y, %z : tensor<?xf32>, tensor<?xf32>
  }
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xf32>
}
