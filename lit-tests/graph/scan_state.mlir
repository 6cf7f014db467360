// RUN: sutura-opt %s | FileCheck %s
// RUN: sutura-opt %s --mlir-print-op-generic | sutura-opt | FileCheck %s

// A linear recurrence: what comes behind `(a, b)` and then `(c, d)` is `(a c, b c + d)`.
// CHECK-LABEL: func.func @recurrence
// CHECK: %{{.*}}:2 = graph.scan %a, %b {axis = 0 : i64, state = #graph.state<[1.000000e+00 : f32, 0.000000e+00 : f32], laws = [associative]>} : tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>> -> tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>> combine {
// CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32):
func.func @recurrence(%a: tensor<?xf32, #dyn.shape<[N]>>, %b: tensor<?xf32, #dyn.shape<[N]>>) -> (tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>) {
  %p:2 = graph.scan %a, %b {axis = 0 : i64, state = #graph.state<[1.0 : f32, 0.0 : f32], laws = [associative]>} : tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>> -> tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>> combine {
  ^bb0(%f: f32, %g: f32, %c: f32, %d: f32):
    %0 = arith.mulf %f, %c : f32
    %1 = arith.mulf %g, %c : f32
    %2 = arith.addf %1, %d : f32
    graph.yield %0, %2 : f32, f32
  }
  return %p#0, %p#1 : tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>
}

// Sizes that are known of one tensor are those of all.
// RUN: sutura-opt %s --propagate-shapes --check-passes | FileCheck %s --check-prefix=SHAPES
// SHAPES-LABEL: func.func @sizes
// SHAPES: graph.scan {{.*}} -> tensor<?x4xi32, #dyn.shape<[N, 4]>>, tensor<?x4xf64, #dyn.shape<[N, 4]>>
func.func @sizes(%a: tensor<?x4xi32, #dyn.shape<[N, 4]>>, %b: tensor<?x?xf64, #dyn.shape<[N, M]>>) -> tensor<?x?xf64> {
  %0, %1 = graph.scan %a, %b {axis = 1 : i64, reverse, state = #graph.state<[0 : i32, 0.0]>} : tensor<?x4xi32, #dyn.shape<[N, 4]>>, tensor<?x?xf64, #dyn.shape<[N, M]>> -> tensor<?x?xi32>, tensor<?x?xf64> combine {
  ^bb0(%f: i32, %g: f64, %c: i32, %d: f64):
    %s = arith.addi %f, %c : i32
    %t = arith.addf %g, %d : f64
    graph.yield %s, %t : i32, f64
  }
  return %1 : tensor<?x?xf64>
}

// Along a single element nothing is combined.
// RUN: sutura-opt %s --canonicalize | FileCheck %s --check-prefix=FOLD
// FOLD-LABEL: func.func @single
// FOLD-NEXT: return %a, %b
func.func @single(%a: tensor<3x1xf32>, %b: tensor<3x1xf32>) -> (tensor<3x1xf32>, tensor<3x1xf32>) {
  %p:2 = graph.scan %a, %b {axis = 1 : i64, state = #graph.state<[1.0 : f32, 0.0 : f32], laws = [associative]>} : tensor<3x1xf32>, tensor<3x1xf32> -> tensor<3x1xf32>, tensor<3x1xf32> combine {
  ^bb0(%f: f32, %g: f32, %c: f32, %d: f32):
    %0 = arith.mulf %f, %c : f32
    %1 = arith.mulf %g, %c : f32
    %2 = arith.addf %1, %d : f32
    graph.yield %0, %2 : f32, f32
  }
  return %p#0, %p#1 : tensor<3x1xf32>, tensor<3x1xf32>
}

// Several tensors are written at the same places.
// CHECK-LABEL: func.func @several
// CHECK: graph.scatter %x, %y, %i, %u, %v {axis = 0 : i64} : tensor<8xf32>, tensor<8xi32>, tensor<3xi64>, tensor<3xf32>, tensor<3xi32> -> tensor<8xf32>, tensor<8xi32> combine {
func.func @several(%x: tensor<8xf32>, %y: tensor<8xi32>, %i: tensor<3xi64>, %u: tensor<3xf32>, %v: tensor<3xi32>) -> (tensor<8xf32>, tensor<8xi32>) {
  %0, %1 = graph.scatter %x, %y, %i, %u, %v {axis = 0 : i64} : tensor<8xf32>, tensor<8xi32>, tensor<3xi64>, tensor<3xf32>, tensor<3xi32> -> tensor<8xf32>, tensor<8xi32> combine {
  ^bb0(%a: f32, %k: i32, %b: f32, %l: i32):
    %more = arith.cmpf ogt, %b, %a : f32
    %c = arith.select %more, %b, %a : f32
    %m = arith.select %more, %l, %k : i32
    graph.yield %c, %m : f32, i32
  }
  return %0, %1 : tensor<8xf32>, tensor<8xi32>
}
