// RUN: sutura-opt %s --graph-property-rewrite=fast-math=fast | FileCheck %s
// RUN: sutura-opt %s --graph-property-rewrite=fast-math=fast --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: sutura-opt %s --graph-property-rewrite=fast-math=reassoc --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=FEW
// RUN: sutura-opt %s --graph-property-rewrite -o %t.exact
// RUN: sutura-opt %s -o %t.same
// RUN: diff %t.exact %t.same

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
#column = affine_map<(d0, d1) -> (d0)>

// Three ops become one: what is common is read and multiplied once.
// CHECK-LABEL: func.func @distribute
// CHECK: graph.compute ins(%a, %b, %c :
// CHECK: %[[S:.*]] = arith.addf %[[B:.*]], %[[C:.*]] : f32
// CHECK: arith.mulf %{{.*}}, %[[S]] : f32
// CHECK-NOT: graph.compute
// REMARK: remark: a * b + a * c = a * (b + c): 2304*N operations and 18432*N + 6144 bytes become 1536*N operations and 3072*N + 6144 bytes
// FEW: remark: a * b + a * c = a * (b + c) is left: it needs the fast-math flags `nsz`
func.func @distribute(%a: tensor<?x768xf32, #dyn.shape<[N, 768]>>, %b: tensor<768xf32>, %c: tensor<768xf32>) -> tensor<?x768xf32, #dyn.shape<[N, 768]>> {
  %N = dyn.symbol "N" : index
  %l = graph.compute ins(%a, %b : tensor<?x768xf32, #dyn.shape<[N, 768]>>, tensor<768xf32>) -> tensor<?x768xf32, #dyn.shape<[N, 768]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%e0: f32, %e1: f32):
    %v = arith.mulf %e0, %e1 : f32
    graph.yield %v : f32
  }
  %r = graph.compute ins(%a, %c : tensor<?x768xf32, #dyn.shape<[N, 768]>>, tensor<768xf32>) -> tensor<?x768xf32, #dyn.shape<[N, 768]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%e0: f32, %e1: f32):
    %v = arith.mulf %e0, %e1 : f32
    graph.yield %v : f32
  }
  %y = graph.compute ins(%l, %r : tensor<?x768xf32, #dyn.shape<[N, 768]>>, tensor<?x768xf32, #dyn.shape<[N, 768]>>) -> tensor<?x768xf32, #dyn.shape<[N, 768]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%e0: f32, %e1: f32):
    %v = arith.addf %e0, %e1 : f32
    graph.yield %v : f32
  }
  return %y : tensor<?x768xf32, #dyn.shape<[N, 768]>>
}

// Both products are wanted: nothing would go but an addition.
// CHECK-LABEL: func.func @shared
// CHECK-COUNT-3: graph.compute
// REMARK: remark: a * b + a * c = a * (b + c) is left: 768*N operations would become 1536*N
func.func @shared(%a: tensor<?x768xf32, #dyn.shape<[N, 768]>>, %b: tensor<768xf32>, %c: tensor<768xf32>) -> (tensor<?x768xf32, #dyn.shape<[N, 768]>>, tensor<?x768xf32, #dyn.shape<[N, 768]>>, tensor<?x768xf32, #dyn.shape<[N, 768]>>) {
  %N = dyn.symbol "N" : index
  %l = graph.compute ins(%a, %b : tensor<?x768xf32, #dyn.shape<[N, 768]>>, tensor<768xf32>) -> tensor<?x768xf32, #dyn.shape<[N, 768]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%e0: f32, %e1: f32):
    %v = arith.mulf %e0, %e1 : f32
    graph.yield %v : f32
  }
  %r = graph.compute ins(%a, %c : tensor<?x768xf32, #dyn.shape<[N, 768]>>, tensor<768xf32>) -> tensor<?x768xf32, #dyn.shape<[N, 768]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%e0: f32, %e1: f32):
    %v = arith.mulf %e0, %e1 : f32
    graph.yield %v : f32
  }
  %y = graph.compute ins(%l, %r : tensor<?x768xf32, #dyn.shape<[N, 768]>>, tensor<?x768xf32, #dyn.shape<[N, 768]>>) -> tensor<?x768xf32, #dyn.shape<[N, 768]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%e0: f32, %e1: f32):
    %v = arith.addf %e0, %e1 : f32
    graph.yield %v : f32
  }
  return %l, %r, %y : tensor<?x768xf32, #dyn.shape<[N, 768]>>, tensor<?x768xf32, #dyn.shape<[N, 768]>>, tensor<?x768xf32, #dyn.shape<[N, 768]>>
}

// The smaller product is cheap: it is made once and not for each row. Still two operations for each element become two, and a
// tensor goes.
// CHECK-LABEL: func.func @small
// CHECK-COUNT-1: graph.compute
// CHECK: return
// REMARK: remark: a * b + a * c = a * (b + c): 1536*N + 768 operations and
func.func @small(%a: tensor<768xf32>, %b: tensor<768xf32>, %c: tensor<?x768xf32, #dyn.shape<[N, 768]>>) -> tensor<?x768xf32, #dyn.shape<[N, 768]>> {
  %N = dyn.symbol "N" : index
  %l = graph.compute ins(%a, %b : tensor<768xf32>, tensor<768xf32>) -> tensor<768xf32> {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
  ^bb0(%e0: f32, %e1: f32):
    %v = arith.mulf %e0, %e1 : f32
    graph.yield %v : f32
  }
  %r = graph.compute ins(%c, %a : tensor<?x768xf32, #dyn.shape<[N, 768]>>, tensor<768xf32>) -> tensor<?x768xf32, #dyn.shape<[N, 768]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%e0: f32, %e1: f32):
    %v = arith.mulf %e0, %e1 : f32
    graph.yield %v : f32
  }
  %y = graph.compute ins(%l, %r : tensor<768xf32>, tensor<?x768xf32, #dyn.shape<[N, 768]>>) -> tensor<?x768xf32, #dyn.shape<[N, 768]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#row, #id, #id]} {
  ^bb0(%e0: f32, %e1: f32):
    %v = arith.addf %e0, %e1 : f32
    graph.yield %v : f32
  }
  return %y : tensor<?x768xf32, #dyn.shape<[N, 768]>>
}

// A factor of each row goes behind the sum of the row.
// CHECK-LABEL: func.func @sum
// CHECK: %[[SUM:.*]] = graph.compute ins(%a :
// CHECK: graph.compute ins(%[[SUM]], %c :
// CHECK: arith.mulf
// REMARK: remark: sum(x * c) = sum(x) * c: 768*N operations and
func.func @sum(%a: tensor<?x768xf32, #dyn.shape<[N, 768]>>, %c: tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
  %N = dyn.symbol "N" : index
  %l = graph.compute ins(%a, %c : tensor<?x768xf32, #dyn.shape<[N, 768]>>, tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?x768xf32, #dyn.shape<[N, 768]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #column, #id]} {
  ^bb0(%e0: f32, %e1: f32):
    %v = arith.mulf %e0, %e1 : f32
    graph.yield %v : f32
  }
  %y = graph.compute ins(%l : tensor<?x768xf32, #dyn.shape<[N, 768]>>) -> tensor<?xf32, #dyn.shape<[N]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #column]} {
  ^bb0(%e0: f32):
    graph.yield %e0 : f32
  }
  return %y : tensor<?xf32, #dyn.shape<[N]>>
}

// A factor that differs along what is summed stays.
// CHECK-LABEL: func.func @sum_of_columns
// CHECK: arith.mulf
// CHECK: combiners
// CHECK-NOT: graph.compute
func.func @sum_of_columns(%a: tensor<?x768xf32, #dyn.shape<[N, 768]>>, %c: tensor<768xf32>) -> tensor<?xf32, #dyn.shape<[N]>> {
  %N = dyn.symbol "N" : index
  %l = graph.compute ins(%a, %c : tensor<?x768xf32, #dyn.shape<[N, 768]>>, tensor<768xf32>) -> tensor<?x768xf32, #dyn.shape<[N, 768]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%e0: f32, %e1: f32):
    %v = arith.mulf %e0, %e1 : f32
    graph.yield %v : f32
  }
  %y = graph.compute ins(%l : tensor<?x768xf32, #dyn.shape<[N, 768]>>) -> tensor<?xf32, #dyn.shape<[N]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #column]} {
  ^bb0(%e0: f32):
    graph.yield %e0 : f32
  }
  return %y : tensor<?xf32, #dyn.shape<[N]>>
}

// CHECK-LABEL: func.func @exponentials
// CHECK: arith.addf
// CHECK-NEXT: math.exp
// CHECK-NEXT: graph.yield
// REMARK: remark: exp(a) * exp(b) = exp(a + b): 31488*N operations
func.func @exponentials(%a: tensor<?x768xf32, #dyn.shape<[N, 768]>>, %b: tensor<?x768xf32, #dyn.shape<[N, 768]>>) -> tensor<?x768xf32, #dyn.shape<[N, 768]>> {
  %N = dyn.symbol "N" : index
  %l = graph.compute ins(%a : tensor<?x768xf32, #dyn.shape<[N, 768]>>) -> tensor<?x768xf32, #dyn.shape<[N, 768]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%e0: f32):
    %v = math.exp %e0 : f32
    graph.yield %v : f32
  }
  %r = graph.compute ins(%b : tensor<?x768xf32, #dyn.shape<[N, 768]>>) -> tensor<?x768xf32, #dyn.shape<[N, 768]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%e0: f32):
    %v = math.exp %e0 : f32
    graph.yield %v : f32
  }
  %y = graph.compute ins(%l, %r : tensor<?x768xf32, #dyn.shape<[N, 768]>>, tensor<?x768xf32, #dyn.shape<[N, 768]>>) -> tensor<?x768xf32, #dyn.shape<[N, 768]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%e0: f32, %e1: f32):
    %v = arith.mulf %e0, %e1 : f32
    graph.yield %v : f32
  }
  return %y : tensor<?x768xf32, #dyn.shape<[N, 768]>>
}

// CHECK-LABEL: func.func @roots
// CHECK-NOT: math.sqrt
// CHECK: graph.yield %{{.*}} : f32
// REMARK: remark: sqrt(x) * sqrt(x) = x: 6912*N operations
func.func @roots(%a: tensor<?x768xf32, #dyn.shape<[N, 768]>>) -> tensor<?x768xf32, #dyn.shape<[N, 768]>> {
  %N = dyn.symbol "N" : index
  %l = graph.compute ins(%a : tensor<?x768xf32, #dyn.shape<[N, 768]>>) -> tensor<?x768xf32, #dyn.shape<[N, 768]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%e0: f32):
    %v = math.sqrt %e0 : f32
    graph.yield %v : f32
  }
  %y = graph.compute ins(%l : tensor<?x768xf32, #dyn.shape<[N, 768]>>) -> tensor<?x768xf32, #dyn.shape<[N, 768]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%e0: f32):
    %v = arith.mulf %e0, %e0 : f32
    graph.yield %v : f32
  }
  return %y : tensor<?x768xf32, #dyn.shape<[N, 768]>>
}

// Nothing is known of the sizes: nothing can be compared.
// CHECK-LABEL: func.func @unknown
// CHECK-COUNT-3: graph.compute
func.func @unknown(%a: tensor<?xf32>, %b: tensor<?xf32>, %c: tensor<?xf32>) -> tensor<?xf32> {
  %N = dyn.symbol "N" : index
  %l = graph.compute ins(%a, %b : tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32> {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
  ^bb0(%e0: f32, %e1: f32):
    %v = arith.mulf %e0, %e1 : f32
    graph.yield %v : f32
  }
  %r = graph.compute ins(%a, %c : tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32> {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
  ^bb0(%e0: f32, %e1: f32):
    %v = arith.mulf %e0, %e1 : f32
    graph.yield %v : f32
  }
  %y = graph.compute ins(%l, %r : tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32> {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
  ^bb0(%e0: f32, %e1: f32):
    %v = arith.addf %e0, %e1 : f32
    graph.yield %v : f32
  }
  return %y : tensor<?xf32>
}
