// An operator whose decomposition applies others. They are bound at the collapsed rank, and expanded at the rank at which the
// outer one is applied; locations say of which operator they were, and in which.
// RUN: sutura-opt %s --operators builtin --expand-operators --check-passes -o %t.expanded
// RUN: FileCheck %s --input-file=%t.expanded
// RUN: sutura-opt %s --operators builtin --expand-operators --mlir-print-debuginfo | FileCheck %s --check-prefix=PLACE
// RUN: sutura-opt %s --operators builtin | FileCheck %s --check-prefix=LINKED

#ab = affine_map<(a, b) -> (a, b)>
!ab = tensor<?x?xf32, #dyn.shape<[A, B]>>
!x = tensor<2x3x?x5xf32, #dyn.shape<[2, 3, N, 5]>>
!y = tensor<?x4xf64, #dyn.shape<[M, 4]>>

// What @twice applies is of the library, and is declared behind what the program declares.
// LINKED: graph.operator @twice
// LINKED: graph.operator @standardize
// LINKED-NOT: graph.operator
graph.operator @twice {
  summary = "standardized twice, the second time with another epsilon, and scaled",
  elements = [f32, f64], groups = {A = "before axis", B},
  attributes = {axis = -1 : i64, first = f32, factor = 2.0 : f32}
} {
^bb0(%x: !ab):
  %once = graph.apply @standardize(%x) {axis = 1 : i64, epsilon = "first"} : (!ab) -> !ab
  %again = graph.apply @standardize(%once) {axis = 1 : i64, epsilon = 0.5 : f32} : (!ab) -> !ab
  %y = graph.compute ins(%again : !ab) -> !ab {iterators = #graph.iterators<[parallel, parallel]>, maps = [#ab, #ab]} {
  ^bb0(%e: f32):
    %factor = graph.param "factor" : f32
    %r = arith.mulf %e, %factor : f32
    graph.yield %r : f32
  }
  graph.yield %y : !ab
}

// CHECK-NOT: graph.operator
// CHECK-LABEL: func.func @images
// CHECK: graph.compute ins(%x : {{.*}}) -> tensor<2xf32>
// CHECK-SAME: iterators = #graph.iterators<[parallel, reduce, reduce, reduce]>
// CHECK: arith.constant 1.250000e-01 : f32
// CHECK: arith.constant 5.000000e-01 : f32
// CHECK: arith.constant 3.000000e+00 : f32
func.func @images(%x: !x) -> !x {
  %y = graph.apply @twice(%x) {axis = 1 : i64, first = 0.125 : f32, factor = 3.0 : f32} : (!x) -> !x loc("image")
  return %y : !x
}

// CHECK-LABEL: func.func @rows
// CHECK: graph.compute ins(%x : {{.*}}) -> tensor<?xf64, #dyn.shape<[M]>>
func.func @rows(%x: !y) -> !y {
  %y = graph.apply @twice(%x) {first = 0.25 : f32} : (!y) -> !y
  return %y : !y
}

// PLACE-DAG: #[[NODE:.*]] = loc("image")
// PLACE-DAG: #[[INNER:.*]] = loc(fused<"standardize">[#[[NODE]]])
// PLACE-DAG: loc(fused<"twice">[#[[INNER]]])
// PLACE-DAG: loc(fused<"twice">[#[[NODE]]])
