// RUN: sutura-opt %s --split-complex --check-passes=3 --strict | FileCheck %s
// RUN: sutura-opt %s --pass-pipeline='builtin.module(propagate-shapes,split-complex,legalize-elements,func.func(stitch),convert-graph-to-gir,convert-gir-to-cpu)' --check-passes=2 --strict -o %t.mlir

!x = tensor<?x?xcomplex<f32>, #dyn.shape<[N, K]>>
!u = tensor<?x?xcomplex<f32>, #dyn.shape<[M, K]>>
!i = tensor<?x1xi64, #dyn.shape<[M, 1]>>

// A running product joins both parts at once.
// CHECK-LABEL: func.func @product
// CHECK: %[[S:.*]]:2 = graph.scan %{{.*}}, %{{.*}} {axis = 1 : i64, exclusive, state = #graph.state<[1.000000e+00 : f32, 0.000000e+00 : f32], laws = [associative, commutative]>} : {{.*}} -> {{.*}} combine {
// CHECK: ^bb0(%{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32):
// CHECK-NOT: complex
// CHECK: graph.yield %{{.*}}, %{{.*}} : f32, f32
func.func @product(%x: !x) -> (!x, !x) {
  %0 = graph.scan %x {axis = 1 : i64, combiner = #graph.combiner<mul>, exclusive} : !x -> !x
  %1 = graph.scan %x {axis = 0 : i64, combiner = #graph.combiner<mul>, reverse} : !x -> !x
  return %0, %1 : !x, !x
}

// What a region joins beside a real number.
// CHECK-LABEL: func.func @state
// CHECK: graph.scan %{{.*}}, %{{.*}}, %{{.*}} {axis = 0 : i64, reverse, state = #graph.state<[1.000000e+00 : f32, 0.000000e+00 : f32, 0.000000e+00 : f32]>}
func.func @state(%x: tensor<?xcomplex<f32>, #dyn.shape<[N]>>, %y: tensor<?xf32, #dyn.shape<[N]>>) -> (tensor<?xcomplex<f32>, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>) {
  %0, %1 = graph.scan %x, %y {axis = 0 : i64, reverse, state = #graph.state<[[1.0 : f32, 0.0 : f32], 0.0 : f32]>} : tensor<?xcomplex<f32>, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>> -> tensor<?xcomplex<f32>, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>> combine {
  ^bb0(%a: complex<f32>, %s: f32, %b: complex<f32>, %t: f32):
    %m = complex.mul %a, %b : complex<f32>
    %u = arith.addf %s, %t : f32
    graph.yield %m, %u : complex<f32>, f32
  }
  return %0, %1 : tensor<?xcomplex<f32>, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>
}

// Updates that meet are multiplied, or joined by a region, both parts at once.
// CHECK-LABEL: func.func @updates
// CHECK: graph.scatter %{{.*}}, %{{.*}}, %i, %{{.*}}, %{{.*}} : tensor<?x?xf32, #dyn.shape<[N, K]>>, tensor<?x?xf32, #dyn.shape<[N, K]>>, !i, tensor<?x?xf32, #dyn.shape<[M, K]>>, tensor<?x?xf32, #dyn.shape<[M, K]>> -> tensor<?x?xf32, #dyn.shape<[N, K]>>, tensor<?x?xf32, #dyn.shape<[N, K]>> combine {
// CHECK: arith.mulf
// CHECK: graph.yield %{{.*}}, %{{.*}} : f32, f32
// CHECK: graph.scatter
// CHECK: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: f32, %{{.*}}: f32):
// CHECK: arith.negf %[[B]]
// CHECK: graph.yield %{{.*}}, %{{.*}} : f32, f32
// CHECK: return
func.func @updates(%x: !x, %i: !i, %u: !u) -> (!x, !x) {
  %0 = graph.scatter %x, %i, %u {combiner = #graph.combiner<mul>} : !x, !i, !u -> !x
  %1 = graph.scatter %x, %i, %u : !x, !i, !u -> !x combine {
  ^bb0(%old: complex<f32>, %new: complex<f32>):
    %c = complex.conj %old : complex<f32>
    %s = complex.sub %new, %c : complex<f32>
    graph.yield %s : complex<f32>
  }
  return %0, %1 : !x, !x
}
