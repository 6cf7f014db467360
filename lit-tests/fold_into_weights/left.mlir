// Chains that stay behind their product, each with the reason.

// RUN: sutura-opt %s --fold-into-weights=fast-math=fast -o %t.after
// RUN: sutura-opt %s -o %t.before
// RUN: diff %t.before %t.after
// RUN: sutura-opt %s --fold-into-weights=fast-math=fast --remarks 2>&1 >/dev/null | FileCheck %s
// RUN: not sutura-opt %s --fold-into-weights=fast-math=quick 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: option `fast-math` takes flags out of `reassoc`, {{.*}}, not `quick`

#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>
#row = affine_map<(d0, d1) -> (d0)>
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>

!x = tensor<3x4xf32>
!w = tensor<4x2xf32>
!y = tensor<3x2xf32>

// Weights that are an input of the program.
// CHECK: remark: a chain of constants stays behind its product: none of its factors is a constant
func.func @given(%x: !x, %w: !w) -> !y {
  %f = graph.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %p = graph.compute ins(%x, %w : !x, !w) -> !y {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
  ^bb0(%a: f32, %e: f32):
    %0 = arith.mulf %a, %e : f32
    graph.yield %0 : f32
  }
  %y = graph.compute ins(%p, %f : !y, tensor<2xf32>) -> !y {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #col, #id]} {
  ^bb0(%a: f32, %e: f32):
    %0 = arith.mulf %a, %e : f32
    graph.yield %0 : f32
  }
  return %y : !y
}

// The product is a result too.
// CHECK: remark: a chain of constants stays behind its product: something else reads the product
func.func @used(%x: !x) -> (!y, !y) {
  %w = graph.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : !w
  %f = graph.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %p = graph.compute ins(%x, %w : !x, !w) -> !y {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
  ^bb0(%a: f32, %e: f32):
    %0 = arith.mulf %a, %e : f32
    graph.yield %0 : f32
  }
  %y = graph.compute ins(%p, %f : !y, tensor<2xf32>) -> !y {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #col, #id]} {
  ^bb0(%a: f32, %e: f32):
    %0 = arith.mulf %a, %e : f32
    graph.yield %0 : f32
  }
  return %p, %y : !y, !y
}

// The weights are a result too.
// CHECK: remark: a chain of constants stays behind its product: something else reads its weights, which would be stored twice
func.func @shared(%x: !x) -> (!w, !y) {
  %w = graph.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : !w
  %f = graph.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %p = graph.compute ins(%x, %w : !x, !w) -> !y {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
  ^bb0(%a: f32, %e: f32):
    %0 = arith.mulf %a, %e : f32
    graph.yield %0 : f32
  }
  %y = graph.compute ins(%p, %f : !y, tensor<2xf32>) -> !y {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #col, #id]} {
  ^bb0(%a: f32, %e: f32):
    %0 = arith.mulf %a, %e : f32
    graph.yield %0 : f32
  }
  return %w, %y : !w, !y
}

// A factor for each row of the result.
// CHECK: remark: a chain of constants stays behind its product: its constants vary along a dimension that the weights do not have
func.func @rows(%x: !x) -> !y {
  %w = graph.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : !w
  %f = graph.constant dense<[2.0, 3.0, 4.0]> : tensor<3xf32>
  %p = graph.compute ins(%x, %w : !x, !w) -> !y {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
  ^bb0(%a: f32, %e: f32):
    %0 = arith.mulf %a, %e : f32
    graph.yield %0 : f32
  }
  %y = graph.compute ins(%p, %f : !y, tensor<3xf32>) -> !y {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %e: f32):
    %0 = arith.mulf %a, %e : f32
    graph.yield %0 : f32
  }
  return %y : !y
}

// A quotient by 0.
// CHECK: remark: a chain of constants stays behind its product: a factor of it is no number, or too large or small to scale weights by
func.func @zero(%x: !x) -> !y {
  %w = graph.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : !w
  %f = graph.constant dense<[2.0, 0.0]> : tensor<2xf32>
  %p = graph.compute ins(%x, %w : !x, !w) -> !y {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
  ^bb0(%a: f32, %e: f32):
    %0 = arith.mulf %a, %e : f32
    graph.yield %0 : f32
  }
  %y = graph.compute ins(%p, %f : !y, tensor<2xf32>) -> !y {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #col, #id]} {
  ^bb0(%a: f32, %e: f32):
    %0 = arith.divf %a, %e : f32
    graph.yield %0 : f32
  }
  return %y : !y
}

// A factor with which weights could overflow.
// CHECK: remark: a chain of constants stays behind its product: a factor of it is no number, or too large or small to scale weights by
func.func @large(%x: !x) -> !y {
  %w = graph.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : !w
  %f = graph.constant dense<[2.0, 1.0e30]> : tensor<2xf32>
  %p = graph.compute ins(%x, %w : !x, !w) -> !y {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
  ^bb0(%a: f32, %e: f32):
    %0 = arith.mulf %a, %e : f32
    graph.yield %0 : f32
  }
  %y = graph.compute ins(%p, %f : !y, tensor<2xf32>) -> !y {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #col, #id]} {
  ^bb0(%a: f32, %e: f32):
    %0 = arith.mulf %a, %e : f32
    graph.yield %0 : f32
  }
  return %y : !y
}

// An offset that is infinite.
// CHECK: remark: a chain of constants stays behind its product: it adds what is not finite
func.func @infinite(%x: !x) -> !y {
  %w = graph.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : !w
  %f = graph.constant dense<[0x7F800000, 1.0]> : tensor<2xf32>
  %p = graph.compute ins(%x, %w : !x, !w) -> !y {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
  ^bb0(%a: f32, %e: f32):
    %0 = arith.mulf %a, %e : f32
    graph.yield %0 : f32
  }
  %y = graph.compute ins(%p, %f : !y, tensor<2xf32>) -> !y {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #col, #id]} {
  ^bb0(%a: f32, %e: f32):
    %two = arith.constant 2.0 : f32
    %0 = arith.addf %a, %e : f32
    %1 = arith.mulf %0, %two : f32
    graph.yield %1 : f32
  }
  return %y : !y
}

// Weights of 16 bits, which would be stored as 32.
// CHECK: remark: a chain of constants stays behind its product: its weights are stored in another type than they are computed in
func.func @narrow(%x: !x) -> !y {
  %half = graph.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf16>
  %w = graph.compute ins(%half : tensor<4x2xf16>) -> !w {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f16):
    %0 = arith.extf %a : f16 to f32
    graph.yield %0 : f32
  }
  %f = graph.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %p = graph.compute ins(%x, %w : !x, !w) -> !y {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
  ^bb0(%a: f32, %e: f32):
    %0 = arith.mulf %a, %e : f32
    graph.yield %0 : f32
  }
  %y = graph.compute ins(%p, %f : !y, tensor<2xf32>) -> !y {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #col, #id]} {
  ^bb0(%a: f32, %e: f32):
    %0 = arith.mulf %a, %e : f32
    graph.yield %0 : f32
  }
  return %y : !y
}

// Products of 16 bits.
// CHECK: remark: a chain of constants stays behind its product: its numbers have 16 bits, and weights that are scaled would lose some of them
func.func @half(%x: tensor<3x4xf16>) -> tensor<3x2xf16> {
  %w = graph.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf16>
  %f = graph.constant dense<[2.0, 3.0]> : tensor<2xf16>
  %p = graph.compute ins(%x, %w : tensor<3x4xf16>, tensor<4x2xf16>) -> tensor<3x2xf16> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
  ^bb0(%a: f16, %e: f16):
    %0 = arith.mulf %a, %e : f16
    graph.yield %0 : f16
  }
  %y = graph.compute ins(%p, %f : tensor<3x2xf16>, tensor<2xf16>) -> tensor<3x2xf16> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #col, #id]} {
  ^bb0(%a: f16, %e: f16):
    %0 = arith.mulf %a, %e : f16
    graph.yield %0 : f16
  }
  return %y : tensor<3x2xf16>
}

// A sum alone scales nothing, and nothing is said of it.
// CHECK-NOT: remark
func.func @added(%x: !x) -> !y {
  %w = graph.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : !w
  %f = graph.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %p = graph.compute ins(%x, %w : !x, !w) -> !y {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
  ^bb0(%a: f32, %e: f32):
    %0 = arith.mulf %a, %e : f32
    graph.yield %0 : f32
  }
  %y = graph.compute ins(%p, %f : !y, tensor<2xf32>) -> !y {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #col, #id]} {
  ^bb0(%a: f32, %e: f32):
    %0 = arith.addf %a, %e : f32
    graph.yield %0 : f32
  }
  return %y : !y
}
