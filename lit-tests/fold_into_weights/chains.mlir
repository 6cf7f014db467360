// What scales a product by constants goes into its constant factor.

// RUN: sutura-opt %s --fold-into-weights=fast-math=reassoc,nsz | FileCheck %s
// RUN: sutura-opt %s --fold-into-weights=fast-math=reassoc,nsz --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: sutura-opt %s --fold-into-weights --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=WITHOUT

#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>
#row = affine_map<(d0, d1) -> (d0)>
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>

!x = tensor<?x4xf32, #dyn.shape<[M, 4]>>
!y = tensor<?x2xf32, #dyn.shape<[M, 2]>>

// A batch normalization behind a bias: weights are scaled, one sum is left.
// CHECK-LABEL: func.func @normalized
// CHECK: %[[W:.*]] = graph.constant
// CHECK: %[[SCALED:.*]] = graph.compute ins(%[[W]], %{{.*}} : tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
// CHECK: %[[P:.*]] = graph.compute ins(%x, %[[SCALED]] : {{.*}}combiners
// CHECK: %[[Y:.*]] = graph.compute ins(%[[P]], %{{.*}} : !y, tensor<2xf32>)
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

// The product is used elsewhere too.
// CHECK-LABEL: func.func @used
// CHECK-COUNT-2: graph.compute
// CHECK-NOT: graph.compute
func.func @used(%x: !x) -> (!y, !y) {
  %M = dyn.symbol "M" : index
  %w = graph.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf32>
  %p = graph.compute ins(%x, %w : !x, tensor<4x2xf32>) -> !y {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
  ^bb0(%a: f32, %e: f32):
    %0 = arith.mulf %a, %e : f32
    graph.yield %0 : f32
  }
  %y = graph.compute ins(%p : !y) -> !y {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 3.0 : f32
    %0 = arith.mulf %a, %c : f32
    graph.yield %0 : f32
  }
  return %p, %y : !y, !y
}

// Weights that are no constant, a factor that varies along rows, and a chain that scales nothing.
// CHECK-LABEL: func.func @left
// CHECK-COUNT-3: graph.compute
// CHECK: return
func.func @left(%x: tensor<3x4xf32>, %w: tensor<4x2xf32>) -> tensor<3x2xf32> {
  %f = graph.constant dense<[2.0, 3.0, 4.0]> : tensor<3xf32>
  %p = graph.compute ins(%x, %w : tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
  ^bb0(%a: f32, %e: f32):
    %0 = arith.mulf %a, %e : f32
    graph.yield %0 : f32
  }
  %q = graph.compute ins(%p, %f : tensor<3x2xf32>, tensor<3xf32>) -> tensor<3x2xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %e: f32):
    %0 = arith.mulf %a, %e : f32
    graph.yield %0 : f32
  }
  %y = graph.compute ins(%q : tensor<3x2xf32>) -> tensor<3x2xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 3.0 : f32
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  return %y : tensor<3x2xf32>
}
