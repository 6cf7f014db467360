// Factors of a product of bytes become tensors, so that it runs as tiles in registers.

// RUN: sutura-opt %s --split-products | FileCheck %s
// RUN: sutura-opt %s --split-products --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: sutura-opt %s --split-products -o %t.once
// RUN: sutura-opt %t.once --split-products -o %t.twice
// RUN: diff %t.once %t.twice
// RUN: sutura-opt %s --split-products --stitch --convert-graph-to-gir | FileCheck %s --check-prefix=GIR
// RUN: sutura-opt %s --split-products --stitch --convert-graph-to-gir --convert-gir-to-cpu=vector-bytes=32 --check-passes=2 --strict -o /dev/null

#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
#n = affine_map<(d0, d1, d2) -> (d1)>
#none = affine_map<(d0, d1, d2) -> ()>

!a = tensor<?x64xi8, #dyn.shape<[M, 64]>>
!b = tensor<64x?xi8, #dyn.shape<[64, N]>>
!y = tensor<?x?xi32, #dyn.shape<[M, N]>>

// Elements less a zero point; the other factor less one for each column.
// CHECK-LABEL: func.func @shifted
// CHECK: %[[A:.*]] = graph.compute ins(%a : {{.*}} -> tensor<?x64xi32, #dyn.shape<[M, 64]>>
// CHECK: %[[C:.*]] = arith.constant 7 : i32
// CHECK: %[[E:.*]] = arith.extui
// CHECK: arith.subi %[[E]], %[[C]]
// CHECK: %[[B:.*]] = graph.compute ins(%b, %z : {{.*}} -> tensor<64x?xi32, #dyn.shape<[64, N]>>
// CHECK: graph.compute ins(%[[A]], %[[B]] : {{.*}}combiners = #graph.combiners<[add]>
// CHECK-NEXT: ^bb0(%[[P:.*]]: i32, %[[Q:.*]]: i32):
// CHECK-NEXT: %[[R:.*]] = arith.muli %[[P]], %[[Q]] : i32
// CHECK-NEXT: graph.yield %[[R]]
// REMARK: remark: both factors of a sum of products became tensors
// GIR: gir.contract {{.*}} : !gir.tile<vec, i32, [{{.*}}, 1]>, !gir.tile<vec, i32, [1, {{.*}}]>
func.func @shifted(%a: !a, %b: !b, %z: tensor<?xi8, #dyn.shape<[N]>>) -> !y {
  %y = graph.compute ins(%a, %b, %z : !a, !b, tensor<?xi8, #dyn.shape<[N]>>) -> !y {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #n, #mn]} {
  ^bb0(%p: i8, %q: i8, %r: i8):
    %c = arith.constant 7 : i32
    %0 = arith.extui %p : i8 to i32
    %1 = arith.subi %0, %c : i32
    %2 = arith.extsi %q : i8 to i32
    %3 = arith.extsi %r : i8 to i32
    %4 = arith.subi %2, %3 : i32
    %5 = arith.muli %1, %4 : i32
    graph.yield %5 : i32
  }
  return %y : !y
}

// Nothing is to be done.
// CHECK-LABEL: func.func @plain
// CHECK-COUNT-1: graph.compute
// CHECK-NOT: graph.compute
func.func @plain(%a: tensor<3x4xi32>, %b: tensor<4x5xi32>) -> tensor<3x5xi32> {
  %y = graph.compute ins(%a, %b : tensor<3x4xi32>, tensor<4x5xi32>) -> tensor<3x5xi32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
  ^bb0(%p: i32, %q: i32):
    %0 = arith.muli %p, %q : i32
    graph.yield %0 : i32
  }
  return %y : tensor<3x5xi32>
}

// A vector times a matrix is no product of tiles.
// CHECK-LABEL: func.func @vector
// CHECK-COUNT-1: graph.compute
// CHECK-NOT: graph.compute
// REMARK: remark: factors of a sum stay in its body: a factor has no dimension of the result of its own
func.func @vector(%a: tensor<4xi8>, %b: tensor<4x5xi8>) -> tensor<5xi32> {
  %y = graph.compute ins(%a, %b : tensor<4xi8>, tensor<4x5xi8>) -> tensor<5xi32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0)>]} {
  ^bb0(%p: i8, %q: i8):
    %0 = arith.extsi %p : i8 to i32
    %1 = arith.extsi %q : i8 to i32
    %2 = arith.muli %0, %1 : i32
    graph.yield %2 : i32
  }
  return %y : tensor<5xi32>
}

// Windows, and one element in both factors.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-2: graph.compute
// CHECK-NOT: graph.compute
// REMARK: remark: factors of a sum stay in its body: a factor reads otherwise than element by element
// REMARK: remark: factors of a sum stay in its body: both factors are computed from one element
func.func @others(%x: tensor<6x4xi8>, %w: tensor<3x5xi8>) -> (tensor<4x5x4xi32>, tensor<6xi32>) {
  %y = graph.compute ins(%x, %w : tensor<6x4xi8>, tensor<3x5xi8>) -> tensor<4x5x4xi32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, maps = [affine_map<(d0, d1, d2, d3) -> (d0 + d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d3, d1)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>]} {
  ^bb0(%p: i8, %q: i8):
    %0 = arith.extsi %p : i8 to i32
    %1 = arith.extsi %q : i8 to i32
    %2 = arith.muli %0, %1 : i32
    graph.yield %2 : i32
  }
  %z = graph.compute ins(%x : tensor<6x4xi8>) -> tensor<6xi32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>]} {
  ^bb0(%p: i8):
    %0 = arith.extsi %p : i8 to i32
    %1 = arith.muli %0, %0 : i32
    graph.yield %1 : i32
  }
  return %y, %z : tensor<4x5x4xi32>, tensor<6xi32>
}
