// What a declaration may not claim.
// RUN: sutura-opt %s --verify-diagnostics --split-input-file
// RUN: not sutura-opt %s --graph-operator-rewrite=fast-math=quick 2>&1 | FileCheck %s

// CHECK: option `fast-math` takes flags out of `reassoc`{{.*}}, not `quick`

!a = tensor<?xf32, #dyn.shape<[A]>>
// expected-error @below {{'graph.operator' op 'laws' holds what is no law; there are "idempotent", "involution", "shift invariant"}}
graph.operator @word {summary = "x", laws = ["linear"], elements = [f32], groups = {A}} {
^bb0(%x: !a):
  graph.yield %x : !a
}

// -----

!a = tensor<?xf32, #dyn.shape<[A]>>
// expected-error @below {{'graph.operator' op must have one input and one result, of one shape and element type, to be idempotent or an involution}}
graph.operator @inputs {summary = "x", laws = ["involution"], elements = [f32], groups = {A}} {
^bb0(%x: !a, %y: !a):
  graph.yield %x : !a
}

// -----

!a = tensor<?xf32, #dyn.shape<[A]>>
// expected-error @below {{'graph.operator' op must have a group before an axis as first size of its first input to be shift invariant}}
graph.operator @axis {summary = "x", laws = ["shift invariant"], elements = [f32], groups = {A}} {
^bb0(%x: !a):
  graph.yield %x : !a
}
