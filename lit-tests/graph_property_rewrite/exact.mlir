// RUN: sutura-opt %s --graph-property-rewrite --split-input-file | FileCheck %s
// RUN: sutura-opt %s --graph-property-rewrite --split-input-file --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: sutura-opt %s --graph-property-rewrite --split-input-file | sutura-opt --graph-property-rewrite --split-input-file --pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=AGAIN

// AGAIN: (S) 0 num-rewrites

#id = affine_map<(d0) -> (d0)>

// A quotient by a power of two is a product, and the product's factors are one.
// CHECK-LABEL: func.func @quarter
// CHECK: %[[C:.*]] = arith.constant 2.500000e-01 : f32
// CHECK: %[[P:.*]] = arith.mulf %{{.*}}, %[[C]] : f32
// CHECK-NEXT: graph.yield %[[P]]
// REMARK: remark: x / c = x * (1 / c): 8*N operations and 0 bytes become N operations and 0 bytes
func.func @quarter(%x: tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%x : tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 4.0 : f32
    %v = arith.divf %a, %c : f32
    graph.yield %v : f32
  }
  return %y : tensor<?xf32, #dyn.shape<[N]>>
}

// A third is no number: the quotient stays.
// CHECK-LABEL: func.func @third
// CHECK: arith.divf
// REMARK: remark: x / c = x * (1 / c) is left: it needs the fast-math flags `arcp`
func.func @third(%x: tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%x : tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 3.0 : f32
    %v = arith.divf %a, %c : f32
    graph.yield %v : f32
  }
  return %y : tensor<?xf32, #dyn.shape<[N]>>
}

// An op's own flag allows it.
// CHECK-LABEL: func.func @flagged
// CHECK: arith.mulf %{{.*}}, %{{.*}} fastmath<arcp> : f32
func.func @flagged(%x: tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%x : tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 3.0 : f32
    %v = arith.divf %a, %c fastmath<arcp> : f32
    graph.yield %v : f32
  }
  return %y : tensor<?xf32, #dyn.shape<[N]>>
}

// The reciprocal would be no normal number: hardware is slow on it, and few of its bits are left.
// CHECK-LABEL: func.func @huge
// CHECK: arith.divf
func.func @huge(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.compute ins(%x : tensor<4xf32>) -> tensor<4xf32> {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 0x7F000000 : f32
    %v = arith.divf %a, %c : f32
    graph.yield %v : f32
  }
  return %y : tensor<4xf32>
}

// Powers of two from 1 on: nothing is rounded on the way. One below 1 may round, one above 1 overflow.
// CHECK-LABEL: func.func @scales
// CHECK-DAG: %[[C8:.*]] = arith.constant 8.000000e+00 : f32
// CHECK-DAG: arith.mulf %{{.*}}, %[[C8]] : f32
// CHECK-LABEL: func.func @up_and_down
// CHECK-COUNT-2: arith.mulf
// REMARK: remark: (x * c) * d = x * (c * d) is left: it needs the fast-math flags `reassoc`, `nsz`
func.func @scales(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.compute ins(%x : tensor<4xf32>) -> tensor<4xf32> {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 2.0 : f32
    %d = arith.constant 4.0 : f32
    %u = arith.mulf %a, %c : f32
    %v = arith.mulf %d, %u : f32
    graph.yield %v : f32
  }
  return %y : tensor<4xf32>
}
func.func @up_and_down(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.compute ins(%x : tensor<4xf32>) -> tensor<4xf32> {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 0.5 : f32
    %d = arith.constant 4.0 : f32
    %u = arith.mulf %a, %c : f32
    %v = arith.mulf %u, %d : f32
    graph.yield %v : f32
  }
  return %y : tensor<4xf32>
}

// A negation in an op of its own goes, with the tensor between.
// CHECK-LABEL: func.func @negated
// CHECK-COUNT-1: graph.compute
// CHECK: arith.subf
// CHECK-NOT: arith.negf
// REMARK: remark: a + (-b) = a - b: 2*N operations and 12*N bytes become N operations and 4*N bytes
func.func @negated(%x: tensor<?xf32, #dyn.shape<[N]>>, %z: tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
  %N = dyn.symbol "N" : index
  %n = graph.compute ins(%x : tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %v = arith.negf %a : f32
    graph.yield %v : f32
  }
  %y = graph.compute ins(%z, %n : tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {iterators = #graph.iterators<[parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%a: f32, %b: f32):
    %v = arith.addf %a, %b : f32
    graph.yield %v : f32
  }
  return %y : tensor<?xf32, #dyn.shape<[N]>>
}

// CHECK-LABEL: func.func @kept
// CHECK: arith.negf
// CHECK: arith.addf
// REMARK: remark: a + (-b) = a - b is left: 0 bytes would become 16
func.func @kept(%x: tensor<4xf32>, %z: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %n = graph.compute ins(%x : tensor<4xf32>) -> tensor<4xf32> {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %v = arith.negf %a : f32
    graph.yield %v : f32
  }
  %y = graph.compute ins(%z, %n : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {iterators = #graph.iterators<[parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%a: f32, %b: f32):
    %v = arith.addf %a, %b : f32
    graph.yield %v : f32
  }
  return %n, %y : tensor<4xf32>, tensor<4xf32>
}
