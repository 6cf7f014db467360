// RUN: sutura-opt %s --split-complex --check-passes --strict | FileCheck %s
// RUN: sutura-opt %s --split-complex --remarks -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: sutura-opt %s --pass-pipeline='builtin.module(propagate-shapes,split-complex,legalize-elements,func.func(stitch),convert-graph-to-gir,convert-gir-to-cpu)' --check-passes=2 --strict -o %t.mlir

// REMARK: remark: 3 tensors of complex numbers became two of their parts

#one = affine_map<(d0) -> (d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
#behind = affine_map<(d0) -> (d0 + 1)>

// What comes in is read as its parts, what goes out is put together; in between nothing is complex.
// CHECK-LABEL: func.func @elementwise
// CHECK: graph.bitcast %x : tensor<?xcomplex<f32>, #dyn.shape<[N]>> -> tensor<?x2xf32, #dyn.shape<[N, 2]>>
// CHECK: graph.bitcast %y : tensor<?xcomplex<f32>, #dyn.shape<[N]>> -> tensor<?x2xf32, #dyn.shape<[N, 2]>>
// CHECK-NOT: complex
// CHECK: ^bb0(%{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32):
// CHECK-NOT: complex
// CHECK: graph.index
// CHECK: graph.bitcast %{{.*}} : tensor<?x2xf32, #dyn.shape<[N, 2]>> -> tensor<?xcomplex<f32>, #dyn.shape<[N]>>
func.func @elementwise(%x: tensor<?xcomplex<f32>, #dyn.shape<[N]>>, %y: tensor<?xcomplex<f32>, #dyn.shape<[N]>>) -> (tensor<?xcomplex<f32>, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>, tensor<?xi1, #dyn.shape<[N]>>) {
  %0, %1, %2 = graph.compute ins(%x, %y : tensor<?xcomplex<f32>, #dyn.shape<[N]>>, tensor<?xcomplex<f32>, #dyn.shape<[N]>>) -> tensor<?xcomplex<f32>, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>, tensor<?xi1, #dyn.shape<[N]>> {iterators = #graph.iterators<[parallel]>, maps = [#one, #one, #one, #one, #one]} {
  ^bb0(%a: complex<f32>, %b: complex<f32>):
    %c = complex.constant [1.0 : f32, -2.0 : f32] : complex<f32>
    %m = complex.mul %a, %b : complex<f32>
    %d = complex.div %m, %c : complex<f32>
    %s = complex.sub %d, %a : complex<f32>
    %n = complex.neg %s : complex<f32>
    %j = complex.conj %n : complex<f32>
    %e = complex.eq %a, %b : complex<f32>
    %k = arith.select %e, %a, %j : complex<f32>
    %r = complex.abs %b : complex<f32>
    %im = complex.im %k : complex<f32>
    %z = complex.create %im, %r : complex<f32>
    graph.yield %z, %r, %e : complex<f32>, f32, i1
  }
  return %0, %1, %2 : tensor<?xcomplex<f32>, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>, tensor<?xi1, #dyn.shape<[N]>>
}

// A sum is one of each part.
// CHECK-LABEL: func.func @sum
// CHECK: combiners = #graph.combiners<[add, add]>
func.func @sum(%x: tensor<?x?xcomplex<f64>, #dyn.shape<[N, M]>>) -> tensor<?xcomplex<f64>, #dyn.shape<[N]>> {
  %0 = graph.compute ins(%x : tensor<?x?xcomplex<f64>, #dyn.shape<[N, M]>>) -> tensor<?xcomplex<f64>, #dyn.shape<[N]>> {iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #row], combiners = #graph.combiners<[add]>} {
  ^bb0(%a: complex<f64>):
    graph.yield %a : complex<f64>
  }
  return %0 : tensor<?xcomplex<f64>, #dyn.shape<[N]>>
}

// A product joins both parts at once.
// CHECK-LABEL: func.func @product
// CHECK: state = #graph.state<[1.000000e+00 : f32, 0.000000e+00 : f32], laws = [associative, commutative]>
// CHECK: combine {
// CHECK: ^bb0(%{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32):
func.func @product(%x: tensor<?x3xcomplex<f32>, #dyn.shape<[N, 3]>>) -> tensor<?xcomplex<f32>, #dyn.shape<[N]>> {
  %0 = graph.compute ins(%x : tensor<?x3xcomplex<f32>, #dyn.shape<[N, 3]>>) -> tensor<?xcomplex<f32>, #dyn.shape<[N]>> {iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #row], combiners = #graph.combiners<[mul]>} {
  ^bb0(%a: complex<f32>):
    graph.yield %a : complex<f32>
  }
  return %0 : tensor<?xcomplex<f32>, #dyn.shape<[N]>>
}

// A state of complex numbers is one of their parts.
// CHECK-LABEL: func.func @state
// CHECK: state = #graph.state<[1.000000e+00 : f64, 0.000000e+00 : f64, 0.000000e+00 : f64], laws = [associative]>
func.func @state(%x: tensor<4x3xcomplex<f64>>) -> (tensor<4xcomplex<f64>>, tensor<4xf64>) {
  %0, %1 = graph.compute ins(%x : tensor<4x3xcomplex<f64>>) -> tensor<4xcomplex<f64>>, tensor<4xf64> {iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #row, #row], state = #graph.state<[[1.0, 0.0], 0.0], laws = [associative]>} {
  ^bb0(%a: complex<f64>):
    %n = complex.abs %a : complex<f64>
    graph.yield %a, %n : complex<f64>, f64
  } combine {
  ^bb0(%p: complex<f64>, %s: f64, %q: complex<f64>, %t: f64):
    %m = complex.mul %p, %q : complex<f64>
    %u = arith.addf %s, %t : f64
    graph.yield %m, %u : complex<f64>, f64
  }
  return %0, %1 : tensor<4xcomplex<f64>>, tensor<4xf64>
}

// CHECK-LABEL: func.func @matmul
// CHECK: combiners = #graph.combiners<[add, add]>
func.func @matmul(%x: tensor<?x?xcomplex<f32>, #dyn.shape<[N, K]>>, %y: tensor<?x?xcomplex<f32>, #dyn.shape<[K, M]>>) -> tensor<?x?xcomplex<f32>, #dyn.shape<[N, M]>> {
  %0 = graph.compute ins(%x, %y : tensor<?x?xcomplex<f32>, #dyn.shape<[N, K]>>, tensor<?x?xcomplex<f32>, #dyn.shape<[K, M]>>) -> tensor<?x?xcomplex<f32>, #dyn.shape<[N, M]>> {iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#a, #b, #c], combiners = #graph.combiners<[add]>} {
  ^bb0(%a: complex<f32>, %b: complex<f32>):
    %m = complex.mul %a, %b : complex<f32>
    graph.yield %m : complex<f32>
  }
  return %0 : tensor<?x?xcomplex<f32>, #dyn.shape<[N, M]>>
}

// What is read outside a tensor has parts too.
// CHECK-LABEL: func.func @outside
// CHECK: oob = [1.000000e+00 : f32, -1.000000e+00 : f32]
func.func @outside(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %0 = graph.compute ins(%x : tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {iterators = #graph.iterators<[parallel]>, maps = [#behind, #one], oob = [[1.0 : f32, -1.0 : f32]]} {
  ^bb0(%a: complex<f32>):
    graph.yield %a : complex<f32>
  }
  return %0 : tensor<4xcomplex<f32>>
}
