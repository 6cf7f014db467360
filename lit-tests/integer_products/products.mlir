// Products of dequantized numbers become ones of the stored integers.

// RUN: sutura-opt %s --integer-products | FileCheck %s
// RUN: sutura-opt %s --integer-products --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: sutura-opt %s --integer-products --check-passes=2 --strict -o /dev/null
// RUN: sutura-opt %s --integer-products=allow-rounding=true | FileCheck %s --check-prefix=ROUNDING
// RUN: sutura-opt %s --integer-products=allow-rounding=true --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK-ROUNDING

#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>
#none = affine_map<(d0, d1) -> ()>

!x = tensor<?x64xui8, #dyn.shape<[M, 64]>>
!xf = tensor<?x64xf32, #dyn.shape<[M, 64]>>
!y = tensor<?x8xf32, #dyn.shape<[M, 8]>>

// Scales are powers of two, and no sum exceeds 64 * 248 * 128: every bit stays.
// CHECK-LABEL: func.func @exact
// CHECK: %[[SUM:.*]] = graph.compute ins(%x, %w : {{.*}} -> tensor<?x8xi32, #dyn.shape<[M, 8]>> {combiners = #graph.combiners<[add]>
// CHECK-NEXT: ^bb0(%{{.*}}: i8, %{{.*}}: i8):
// CHECK: arith.extui
// CHECK: arith.subi
// CHECK: arith.extsi
// CHECK: arith.muli
// CHECK: %[[Y:.*]] = graph.compute ins(%[[SUM]] :
// CHECK: arith.sitofp
// CHECK: arith.mulf
// CHECK: return %[[Y]]
// REMARK: remark: a product of quantized numbers becomes one of integers: factors of 32 bits become ones of 8 and 8; every bit stays
func.func @exact(%x: !x, %w: tensor<64x8xi8>) -> !y {
  %M = dyn.symbol "M" : index
  %a = graph.compute ins(%x : !x) -> !xf {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%e: i8):
    %z = arith.constant 7 : i32
    %s = arith.constant 0.5 : f32
    %0 = arith.extui %e : i8 to i32
    %1 = arith.subi %0, %z : i32
    %2 = arith.sitofp %1 : i32 to f32
    %3 = arith.mulf %2, %s : f32
    graph.yield %3 : f32
  }
  %b = graph.compute ins(%w : tensor<64x8xi8>) -> tensor<64x8xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%e: i8):
    %s = arith.constant 0.25 : f32
    %0 = arith.sitofp %e : i8 to f32
    %1 = arith.mulf %s, %0 : f32
    graph.yield %1 : f32
  }
  %y = graph.compute ins(%a, %b : !xf, tensor<64x8xf32>) -> !y {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.mulf %p, %q : f32
    graph.yield %0 : f32
  }
  return %y : !y
}

// Scales of columns, computed: the sum of floats is rounded.
// CHECK-LABEL: func.func @columns
// CHECK-NOT: arith.muli
// REMARK: remark: a product of quantized numbers stays one of floats: the sum of floats is rounded, and that of integers is not; it needs `allow-rounding`
// ROUNDING-LABEL: func.func @columns
// ROUNDING: %[[SUM:.*]] = graph.compute ins(%x, %w, %z : {{.*}} -> tensor<?x8xi32, #dyn.shape<[M, 8]>>
// ROUNDING: arith.muli
// ROUNDING: graph.compute ins(%[[SUM]], %s :
// REMARK-ROUNDING: remark: a product of quantized numbers becomes one of integers: {{.*}} every bit stays
// REMARK-ROUNDING: remark: a product of quantized numbers becomes one of integers: {{.*}} results differ by rounding if scales are ordinary numbers
func.func @columns(%x: !x, %w: tensor<64x8xi8>, %s: tensor<8xf32>, %z: tensor<8xi8>) -> !y {
  %M = dyn.symbol "M" : index
  %a = graph.compute ins(%x : !x) -> !xf {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%e: i8):
    %c = arith.constant 0.1 : f32
    %0 = arith.extui %e : i8 to i32
    %1 = arith.sitofp %0 : i32 to f32
    %2 = arith.mulf %1, %c : f32
    graph.yield %2 : f32
  }
  %b = graph.compute ins(%w, %s, %z : tensor<64x8xi8>, tensor<8xf32>, tensor<8xi8>) -> tensor<64x8xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #col, #col, #id]} {
  ^bb0(%e: i8, %scale: f32, %zero: i8):
    %0 = arith.extsi %e : i8 to i32
    %1 = arith.extsi %zero : i8 to i32
    %2 = arith.subi %0, %1 : i32
    %3 = arith.sitofp %2 : i32 to f32
    %4 = arith.mulf %3, %scale : f32
    graph.yield %4 : f32
  }
  %y = graph.compute ins(%a, %b : !xf, tensor<64x8xf32>) -> !y {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.mulf %p, %q : f32
    graph.yield %0 : f32
  }
  return %y : !y
}

// Scales along what is summed over.
// ROUNDING-LABEL: func.func @rows
// ROUNDING-NOT: arith.muli
// REMARK-ROUNDING: remark: a product of quantized numbers stays one of floats: its scales vary along what is summed over
func.func @rows(%x: tensor<4x64xi8>, %w: tensor<64x8xi8>, %s: tensor<64xf32>) -> tensor<4x8xf32> {
  %a = graph.compute ins(%x : tensor<4x64xi8>) -> tensor<4x64xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%e: i8):
    %c = arith.constant 0.5 : f32
    %0 = arith.sitofp %e : i8 to f32
    %1 = arith.mulf %0, %c : f32
    graph.yield %1 : f32
  }
  %b = graph.compute ins(%w, %s : tensor<64x8xi8>, tensor<64xf32>) -> tensor<64x8xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%e: i8, %scale: f32):
    %0 = arith.sitofp %e : i8 to f32
    %1 = arith.mulf %0, %scale : f32
    graph.yield %1 : f32
  }
  %y = graph.compute ins(%a, %b : tensor<4x64xf32>, tensor<64x8xf32>) -> tensor<4x8xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.mulf %p, %q : f32
    graph.yield %0 : f32
  }
  return %y : tensor<4x8xf32>
}

// How many products are summed is not known.
// ROUNDING-LABEL: func.func @unbounded
// ROUNDING-NOT: arith.muli
// REMARK-ROUNDING: remark: a product of quantized numbers stays one of floats: a sum may be {{[0-9]+}}, which 32 bits do not hold
func.func @unbounded(%x: tensor<4x?xi8, #dyn.shape<[4, K]>>, %w: tensor<?x8xi8, #dyn.shape<[K, 8]>>) -> tensor<4x8xf32> {
  %K = dyn.symbol "K" : index
  %a = graph.compute ins(%x : tensor<4x?xi8, #dyn.shape<[4, K]>>) -> tensor<4x?xf32, #dyn.shape<[4, K]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%e: i8):
    %c = arith.constant 0.5 : f32
    %0 = arith.sitofp %e : i8 to f32
    %1 = arith.mulf %0, %c : f32
    graph.yield %1 : f32
  }
  %b = graph.compute ins(%w : tensor<?x8xi8, #dyn.shape<[K, 8]>>) -> tensor<?x8xf32, #dyn.shape<[K, 8]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%e: i8):
    %c = arith.constant 0.5 : f32
    %0 = arith.sitofp %e : i8 to f32
    %1 = arith.mulf %0, %c : f32
    graph.yield %1 : f32
  }
  %y = graph.compute ins(%a, %b : tensor<4x?xf32, #dyn.shape<[4, K]>>, tensor<?x8xf32, #dyn.shape<[K, 8]>>) -> tensor<4x8xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.mulf %p, %q : f32
    graph.yield %0 : f32
  }
  return %y : tensor<4x8xf32>
}

// Around the input the zero point is read: its bits are those of an element with a sign.
// CHECK-LABEL: func.func @padded
// ROUNDING-LABEL: func.func @padded
// CHECK: graph.compute ins(%x, %w : {{.*}} oob = [-56 : i8, unit]
// CHECK: arith.muli
func.func @padded(%x: tensor<6xui8>, %w: tensor<3xi8>) -> tensor<6xf32> {
  %a = graph.compute ins(%x : tensor<6xui8>) -> tensor<6xf32> {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
  ^bb0(%e: i8):
    %z = arith.constant 200 : i32
    %c = arith.constant 0.5 : f32
    %0 = arith.extui %e : i8 to i32
    %1 = arith.subi %0, %z : i32
    %2 = arith.sitofp %1 : i32 to f32
    %3 = arith.mulf %2, %c : f32
    graph.yield %3 : f32
  }
  %b = graph.compute ins(%w : tensor<3xi8>) -> tensor<3xf32> {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
  ^bb0(%e: i8):
    %c = arith.constant 2.0 : f32
    %0 = arith.sitofp %e : i8 to f32
    %1 = arith.mulf %0, %c : f32
    graph.yield %1 : f32
  }
  %y = graph.compute ins(%a, %b : tensor<6xf32>, tensor<3xf32>) -> tensor<6xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [affine_map<(d0, d1) -> (d0 + d1 - 1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], oob = [0.0 : f32, unit]} {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.mulf %p, %q : f32
    graph.yield %0 : f32
  }
  return %y : tensor<6xf32>
}
