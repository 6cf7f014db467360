// What scales a product by constants goes into its constant factor.

// RUN: sutura-opt %s --fold-into-weights=fast-math=reassoc,nsz | FileCheck %s
// RUN: sutura-opt %s --fold-into-weights=fast-math=reassoc,nsz --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: sutura-opt %s --fold-into-weights=fast-math=reassoc,nsz -o %t.once
// RUN: sutura-opt %t.once --fold-into-weights=fast-math=reassoc,nsz -o %t.twice
// RUN: diff %t.once %t.twice
// RUN: sutura-opt %s --fold-into-weights=fast-math=reassoc,nsz --check-passes -o %t.checked
// RUN: sutura-opt %s --fold-into-weights --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=WITHOUT

#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>

#gx = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#gw = affine_map<(d0, d1, d2, d3) -> (d1, d3, d2)>
#gy = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>

!x = tensor<?x4xf32, #dyn.shape<[M, 4]>>
!y = tensor<?x2xf32, #dyn.shape<[M, 2]>>

// A batch normalization behind a bias: weights are scaled, one sum is left.
// CHECK-LABEL: func.func @normalized
// CHECK: %[[W:.*]] = graph.constant {{.*}} : tensor<4x2xf32>
// CHECK: %[[F:.*]] = graph.constant dense<[2.000000e+00, 3.000000e+00]> : tensor<2xf32>
// CHECK: %[[O:.*]] = graph.constant dense<[1.000000e+00, 0.000000e+00]> : tensor<2xf32>
// CHECK: %[[SCALED:.*]] = graph.compute ins(%[[W]], %[[F]] : tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
// CHECK: %[[P:.*]] = graph.compute ins(%x, %[[SCALED]] : {{.*}}combiners
// CHECK: %[[Y:.*]] = graph.compute ins(%[[P]], %[[O]] : !y, tensor<2xf32>)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.addf
// CHECK: arith.maximumf
// CHECK: return %[[Y]]
// REMARK: remark: a chain of constants behind a product goes into its weights: 8*M operations become 2*M
// WITHOUT: remark: a chain of constants stays behind its product: it needs the fast-math flags `reassoc`, `nsz`
func.func @normalized(%x: !x) -> !y {
  %M = dyn.symbol "M" : index
  %w = graph.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf32>
  %b = graph.constant dense<[0.5, 1.5]> : tensor<2xf32>
  %mean = graph.constant dense<[0.25, 2.0]> : tensor<2xf32>
  %f = graph.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %p = graph.compute ins(%x, %w : !x, tensor<4x2xf32>) -> !y {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
  ^bb0(%a: f32, %e: f32):
    %0 = arith.mulf %a, %e : f32
    graph.yield %0 : f32
  }
  %q = graph.compute ins(%p, %b : !y, tensor<2xf32>) -> !y {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #col, #id]} {
  ^bb0(%a: f32, %e: f32):
    %0 = arith.addf %a, %e : f32
    graph.yield %0 : f32
  }
  %y = graph.compute ins(%q, %mean, %f, %b : !y, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> !y {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #col, #col, #col, #id]} {
  ^bb0(%a: f32, %m: f32, %e: f32, %o: f32):
    %0 = arith.subf %a, %m : f32
    %1 = arith.mulf %0, %e : f32
    %2 = arith.addf %1, %o : f32
    %z = arith.constant 0.0 : f32
    %3 = arith.maximumf %2, %z : f32
    graph.yield %3 : f32
  }
  return %y : !y
}

// Constants of the chain that stand behind the product: it moves there.
// CHECK-LABEL: func.func @behind
// CHECK: graph.constant dense<[-2.000000e+00, -3.000000e+00]> : tensor<2xf32>
// CHECK: %[[P:.*]] = graph.compute {{.*}}combiners
// CHECK: %[[Y:.*]] = graph.compute ins(%[[P]], %{{.*}} : !y, tensor<2xf32>)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.addf
// CHECK-NEXT: graph.yield
// CHECK: return %[[Y]]
// REMARK: remark: a chain of constants behind a product goes into its weights: 4*M operations become 2*M
func.func @behind(%x: !x) -> !y {
  %M = dyn.symbol "M" : index
  %w = graph.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf32>
  %p = graph.compute ins(%x, %w : !x, tensor<4x2xf32>) -> !y {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
  ^bb0(%a: f32, %e: f32):
    %0 = arith.mulf %a, %e : f32
    graph.yield %0 : f32
  }
  %f = graph.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %b = graph.constant dense<[0.5, 1.5]> : tensor<2xf32>
  %y = graph.compute ins(%p, %f, %b : !y, tensor<2xf32>, tensor<2xf32>) -> !y {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #col, #col, #id]} {
  ^bb0(%a: f32, %e: f32, %o: f32):
    %0 = arith.subf %o, %a : f32
    %1 = arith.mulf %0, %e : f32
    graph.yield %1 : f32
  }
  return %y : !y
}

// One number for all channels, and what only moves the product's numbers between.
// CHECK-LABEL: func.func @moved
// CHECK: %[[W:.*]] = graph.constant {{.*}} : tensor<2x2x3xf32>
// CHECK: %[[F:.*]] = graph.constant {{.*}}[2.000000e+00, 3.000000e+00, 4.000000e+00], [5.000000e+00, 6.000000e+00, 7.000000e+00]{{.*}} : tensor<2x3xf32>
// CHECK: %[[SCALED:.*]] = graph.compute ins(%[[W]], %[[F]] : tensor<2x2x3xf32>, tensor<2x3xf32>)
// CHECK: %[[P:.*]] = graph.compute ins(%x, %[[SCALED]] :
// CHECK: %[[R:.*]] = graph.reshape %[[P]]
// CHECK: graph.compute ins(%[[R]] :
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32):
// CHECK-NEXT: graph.yield %[[A]]
// REMARK: remark: a chain of constants behind a product goes into its weights: 6*M operations become 0
func.func @moved(%x: tensor<?x2x2xf32, #dyn.shape<[M, 2, 2]>>) -> tensor<?x6xf32, #dyn.shape<[M, 6]>> {
  %M = dyn.symbol "M" : index
  %w = graph.constant dense<1.5> : tensor<2x2x3xf32>
  %f = graph.constant dense<[2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<6xf32>
  %p = graph.compute ins(%x, %w : tensor<?x2x2xf32, #dyn.shape<[M, 2, 2]>>, tensor<2x2x3xf32>) -> tensor<?x2x3xf32, #dyn.shape<[M, 2, 3]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, maps = [#gx, #gw, #gy]} {
  ^bb0(%a: f32, %e: f32):
    %0 = arith.mulf %a, %e : f32
    graph.yield %0 : f32
  }
  %r = graph.reshape %p : tensor<?x2x3xf32, #dyn.shape<[M, 2, 3]>> -> tensor<?x6xf32, #dyn.shape<[M, 6]>>
  %y = graph.compute ins(%r, %f : tensor<?x6xf32, #dyn.shape<[M, 6]>>, tensor<6xf32>) -> tensor<?x6xf32, #dyn.shape<[M, 6]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #col, #id]} {
  ^bb0(%a: f32, %e: f32):
    %0 = arith.mulf %a, %e : f32
    graph.yield %0 : f32
  }
  return %y : tensor<?x6xf32, #dyn.shape<[M, 6]>>
}

// A constant that is one number, as an op without inputs makes it.
// CHECK-LABEL: func.func @splat
// CHECK: %[[F:.*]] = graph.constant dense<3.000000e+00> : tensor<2xf32>
// CHECK: graph.compute ins(%{{.*}}, %[[F]] : tensor<4x2xf32>, tensor<2xf32>)
// REMARK: remark: a chain of constants behind a product goes into its weights: 2*M operations become 0
func.func @splat(%x: !x) -> !y {
  %M = dyn.symbol "M" : index
  %w = graph.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf32>
  %p = graph.compute ins(%x, %w : !x, tensor<4x2xf32>) -> !y {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
  ^bb0(%a: f32, %e: f32):
    %0 = arith.mulf %a, %e : f32
    graph.yield %0 : f32
  }
  %f = graph.compute ins() -> tensor<2xf32> {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>]} {
    %0 = arith.constant 3.0 : f32
    graph.yield %0 : f32
  }
  %y = graph.compute ins(%p, %f : !y, tensor<2xf32>) -> !y {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #col, #id]} {
  ^bb0(%a: f32, %e: f32):
    %0 = arith.mulf %a, %e : f32
    graph.yield %0 : f32
  }
  return %y : !y
}

// A number that only a run tells is no constant.
// CHECK-LABEL: func.func @sized
// CHECK: graph.compute ins() -> tensor<2xf32>
// CHECK: graph.size [M]
// CHECK: graph.compute ins(%x, %{{.*}} : !x, tensor<4x2xf32>)
// CHECK: graph.compute ins({{.*}} : !y, tensor<2xf32>)
func.func @sized(%x: !x) -> !y {
  %M = dyn.symbol "M" : index
  %w = graph.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf32>
  %g = graph.compute ins() -> tensor<2xf32> {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>]} {
    %0 = graph.size [M] : index
    %1 = arith.index_cast %0 : index to i64
    %2 = arith.sitofp %1 : i64 to f32
    graph.yield %2 : f32
  }
  %p = graph.compute ins(%x, %w : !x, tensor<4x2xf32>) -> !y {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
  ^bb0(%a: f32, %e: f32):
    %0 = arith.mulf %a, %e : f32
    graph.yield %0 : f32
  }
  %y = graph.compute ins(%p, %g : !y, tensor<2xf32>) -> !y {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #col, #id]} {
  ^bb0(%a: f32, %e: f32):
    %0 = arith.mulf %a, %e : f32
    graph.yield %0 : f32
  }
  return %y : !y
}
