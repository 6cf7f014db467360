// Products of attention take factors of f32, also where the machine has dot products of bf16: a fused kernel widens them where it brings them
// near. A copy that repeats keys for several heads is read through.

// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx512_dot},raise-attention,expand-operators,narrow-products)' | FileCheck %s
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx512_dot},raise-attention,expand-operators,narrow-products)' --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx512_dot},raise-attention,expand-operators,narrow-products)' --check-passes=2 --strict -o /dev/null

#copy = affine_map<(b, h, k, d) -> (b, k, d)>
#id = affine_map<(b, h, k, d) -> (b, h, k, d)>
#row = affine_map<(b, h, k, d) -> (b, h, k)>
#qd = affine_map<(b, h, q, k, d) -> (b, h, q, d)>
#kd = affine_map<(b, h, q, k, d) -> (b, h, k, d)>
#qk = affine_map<(b, h, q, k, d) -> (b, h, q, k)>

// CHECK-LABEL: func.func @heads_share_keys
// CHECK: %[[Q:.*]] = graph.compute ins(%q : tensor<2x3x13x8xbf16>) -> tensor<2x3x13x8xf32>
// CHECK: %[[K:.*]] = graph.compute ins(%k : tensor<2x9x8xbf16>) -> tensor<2x9x8xf32>
// CHECK: graph.compute ins(%[[Q]], %[[K]] : {{.*}} -> tensor<2x3x13x9xf32>
// CHECK-NOT: graph.narrow
// CHECK: graph.operator = "softmax_by_division"
// CHECK: %[[V:.*]] = graph.compute ins(%v : tensor<2x9x8xbf16>) -> tensor<2x9x8xf32>
// CHECK: graph.compute ins(%{{.*}}, %[[V]] : tensor<2x3x13x9xf32>, tensor<2x9x8xf32>) -> tensor<2x3x13x8xf32>
// CHECK-NOT: graph.narrow
// CHECK: return
// REMARK-COUNT-2: factors of narrow floats become tensors of f32: the product is one of attention
func.func @heads_share_keys(%q: tensor<2x3x13x8xbf16>, %k: tensor<2x9x8xbf16>, %v: tensor<2x9x8xbf16>) -> tensor<2x3x13x8xf32> {
  %ks = graph.compute ins(%k : tensor<2x9x8xbf16>) -> tensor<2x3x9x8xbf16> {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#copy, #id]} {
  ^bb0(%a: bf16):
    graph.yield %a : bf16
  }
  %vs = graph.compute ins(%v : tensor<2x9x8xbf16>) -> tensor<2x3x9x8xbf16> {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#copy, #id]} {
  ^bb0(%a: bf16):
    graph.yield %a : bf16
  }
  %s = graph.compute ins(%q, %ks : tensor<2x3x13x8xbf16>, tensor<2x3x9x8xbf16>) -> tensor<2x3x13x9xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, maps = [#qd, #kd, #qk]} {
  ^bb0(%a: bf16, %b: bf16):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    graph.yield %2 : f32
  }
  %m = graph.compute ins(%s : tensor<2x3x13x9xf32>) -> tensor<2x3x13xf32> {combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %e = graph.compute ins(%s, %m : tensor<2x3x13x9xf32>, tensor<2x3x13xf32>) -> tensor<2x3x13x9xf32> {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    graph.yield %1 : f32
  }
  %t = graph.compute ins(%e : tensor<2x3x13x9xf32>) -> tensor<2x3x13xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %w = graph.compute ins(%e, %t : tensor<2x3x13x9xf32>, tensor<2x3x13xf32>) -> tensor<2x3x13x9xf32> {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.divf %a, %b : f32
    graph.yield %0 : f32
  }
  %y = graph.compute ins(%w, %vs : tensor<2x3x13x9xf32>, tensor<2x3x9x8xbf16>) -> tensor<2x3x13x8xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, maps = [affine_map<(b, h, q, d, k) -> (b, h, q, k)>, affine_map<(b, h, q, d, k) -> (b, h, k, d)>, affine_map<(b, h, q, d, k) -> (b, h, q, d)>]} {
  ^bb0(%a: f32, %b: bf16):
    %0 = arith.extf %b : bf16 to f32
    %1 = arith.mulf %a, %0 : f32
    graph.yield %1 : f32
  }
  return %y : tensor<2x3x13x8xf32>
}

// Two products without a softmax between them are none of attention.
// CHECK-LABEL: func.func @two_products
// CHECK-COUNT-2: graph.narrow
// REMARK-COUNT-2: a product becomes one of factors of bf16, 2 places at a time, by @vdpbf16ps
func.func @two_products(%a: tensor<5x8xbf16>, %b: tensor<8x6xbf16>, %c: tensor<6x4xbf16>) -> tensor<5x4xf32> {
  %s = graph.compute ins(%a, %b : tensor<5x8xbf16>, tensor<8x6xbf16>) -> tensor<5x6xbf16> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>]} {
  ^bb0(%p: bf16, %q: bf16):
    %0 = arith.extf %p : bf16 to f32
    %1 = arith.extf %q : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    graph.yield %2 : f32
  }
  %y = graph.compute ins(%s, %c : tensor<5x6xbf16>, tensor<6x4xbf16>) -> tensor<5x4xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>]} {
  ^bb0(%p: bf16, %q: bf16):
    %0 = arith.extf %p : bf16 to f32
    %1 = arith.extf %q : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    graph.yield %2 : f32
  }
  return %y : tensor<5x4xf32>
}
