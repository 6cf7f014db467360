// The shape function of an operator follows from its declaration; equal applications are one; those that nobody uses go.
// RUN: sutura-opt %s --propagate-shapes --cse --check-passes | FileCheck %s
// RUN: sutura-opt %s --propagate-shapes --expand-operators --mlir-print-debuginfo | FileCheck %s --check-prefix=LOC
// RUN: sutura-opt %s --mlir-print-op-generic | sutura-opt | FileCheck %s --check-prefix=BACK

!a = tensor<?xf32, #dyn.shape<[A]>>
#id = affine_map<(d0) -> (d0)>

graph.operator @weighted {
  summary = "a + w * b",
  elements = [f32, f64], groups = {A}, attributes = {weight = f32}, broadcast = array<i64: 0, 1>
} {
^bb0(%a: !a, %b: !a):
  %y = graph.compute ins(%a, %b : !a, !a) -> !a {iterators = #graph.iterators<[parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%x: f32, %z: f32):
    %w = graph.param "weight" : f32
    %p = arith.mulf %w, %z : f32
    %r = arith.addf %x, %p : f32
    graph.yield %r : f32
  }
  graph.yield %y : !a
}

// CHECK-LABEL: func.func @twice
// CHECK: %[[Y:.*]] = graph.apply @weighted(%a, %b) {weight = 2.000000e+00 : f32} : (tensor<?x1x4xf32, #dyn.shape<[a_0, 1, 4]>>, tensor<?x1xf32, #dyn.shape<[b_0, 1]>>) -> tensor<?x?x4xf32, #dyn.shape<[a_0, b_0, 4]>>
// CHECK-NOT: graph.apply
// LOC: #[[NODE:.*]] = loc("node")
// LOC-LABEL: func.func @twice
// LOC: graph.compute
// LOC-NEXT: ^bb0(%{{.*}}: f32 loc(fused<"weighted">[#[[NODE]]])
// BACK: graph.apply @weighted(%{{.*}}, %{{.*}}) {weight = 2.000000e+00 : f32}
func.func @twice(%a: tensor<?x1x4xf32>, %b: tensor<?x1xf32>) -> tensor<?x?x4xf32> {
  %0 = graph.apply @weighted(%a, %b) {weight = 2.0 : f32} : (tensor<?x1x4xf32>, tensor<?x1xf32>) -> tensor<?x?x4xf32> loc("node")
  %1 = graph.apply @weighted(%a, %b) {weight = 2.0 : f32} : (tensor<?x1x4xf32>, tensor<?x1xf32>) -> tensor<?x?x4xf32>
  %2 = arith.addf %0, %1 : tensor<?x?x4xf32>
  %3 = graph.apply @weighted(%a, %b) {weight = 3.0 : f32} : (tensor<?x1x4xf32>, tensor<?x1xf32>) -> tensor<?x?x4xf32>
  return %2 : tensor<?x?x4xf32>
}
