// RUN: sutura-opt %s | FileCheck %s
// RUN: sutura-opt %s | sutura-opt | FileCheck %s
// RUN: sutura-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: sutura-opt %s --mlir-print-op-generic | sutura-opt | FileCheck %s
// RUN: sutura-opt %s --canonicalize --cse --check-passes --strict | FileCheck %s

// A region joins all results at once: the largest element and the first place of it.

#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: func.func @argmax
func.func @argmax(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> (tensor<?xf32, #dyn.shape<[M]>>, tensor<?xi64, #dyn.shape<[M]>>) {
  // CHECK: graph.compute ins(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?xf32, #dyn.shape<[M]>>, tensor<?xi64, #dyn.shape<[M]>>
  // CHECK-SAME: iterators = #graph.iterators<[parallel, reduce]>
  // CHECK-SAME: state = #graph.state<[0xFF800000 : f32, 9223372036854775807 : i64], laws = [associative, commutative]>
  // CHECK: ^bb0(%{{.*}}: f32):
  // CHECK: graph.yield %{{.*}}, %{{.*}} : f32, i64
  // CHECK-NEXT: } combine {
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: i64, %{{.*}}: f32, %{{.*}}: i64):
  // CHECK: graph.yield %{{.*}}, %{{.*}} : f32, i64
  // CHECK-NEXT: }
  // GENERIC: "graph.compute"(%x) <{iterators = #graph.iterators<[parallel, reduce]>
  // GENERIC: }, {
  // GENERIC-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: i64, %{{.*}}: f32, %{{.*}}: i64):
  %most, %place = graph.compute ins(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?xf32, #dyn.shape<[M]>>, tensor<?xi64, #dyn.shape<[M]>> {
    iterators = #graph.iterators<[parallel, reduce]>, maps = [#all, #row, #row],
    state = #graph.state<[0xFF800000 : f32, 9223372036854775807 : i64], laws = [associative, commutative]>
  } {
  ^bb0(%e: f32):
    %i = graph.index 1 : index
    %k = arith.index_cast %i : index to i64
    graph.yield %e, %k : f32, i64
  } combine {
  ^bb0(%a: f32, %i: i64, %b: f32, %j: i64):
    %more = arith.cmpf ogt, %b, %a : f32
    %same = arith.cmpf oeq, %b, %a : f32
    %before = arith.cmpi slt, %j, %i : i64
    %first = arith.andi %same, %before : i1
    %second = arith.ori %more, %first : i1
    %c = arith.select %second, %b, %a : f32
    %k = arith.select %second, %j, %i : i64
    graph.yield %c, %k : f32, i64
  }
  return %most, %place : tensor<?xf32, #dyn.shape<[M]>>, tensor<?xi64, #dyn.shape<[M]>>
}

// No law is declared: contributions are joined in row-major order.
// CHECK-LABEL: func.func @horner
func.func @horner(%x: tensor<4xf32>) -> tensor<f32> {
  // CHECK: state = #graph.state<[0.000000e+00 : f32]>
  %y = graph.compute ins(%x : tensor<4xf32>) -> tensor<f32> {
    iterators = #graph.iterators<[reduce]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>],
    state = #graph.state<[0.0 : f32]>
  } {
  ^bb0(%e: f32):
    graph.yield %e : f32
  } combine {
  ^bb0(%a: f32, %b: f32):
    %two = arith.constant 2.0 : f32
    %0 = arith.mulf %a, %two : f32
    %1 = arith.addf %0, %b : f32
    graph.yield %1 : f32
  }
  return %y : tensor<f32>
}

// CHECK-LABEL: func.func @all_and_any
func.func @all_and_any(%x: tensor<?x4xi1>) -> (tensor<?xi1>, tensor<?xi1>) {
  // CHECK: combiners = #graph.combiners<[and, or]>
  %all, %any = graph.compute ins(%x : tensor<?x4xi1>) -> tensor<?xi1>, tensor<?xi1> {
    iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[and, or]>, maps = [#all, #row, #row]
  } {
  ^bb0(%e: i1):
    graph.yield %e, %e : i1, i1
  }
  return %all, %any : tensor<?xi1>, tensor<?xi1>
}
