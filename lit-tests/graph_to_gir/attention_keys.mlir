// More keys than a group keeps at once, and no fewer: the version for few keys is none that a call could take.
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=vulkan},raise-attention,expand-operators,stitch,convert-graph-to-gir)' --check-passes=2 | FileCheck %s

// CHECK: gir.kernel @known_attention0(
// CHECK-NOT: gir.kernel
// CHECK-NOT: select if
#qd = affine_map<(b, q, k, d) -> (b, q, d)>
#kd = affine_map<(b, q, k, d) -> (b, k, d)>
#qk = affine_map<(b, q, k, d) -> (b, q, k)>
#pk = affine_map<(b, q, v, k) -> (b, q, k)>
#kv = affine_map<(b, q, v, k) -> (b, k, v)>
#qv = affine_map<(b, q, v, k) -> (b, q, v)>
#id = affine_map<(b, q, k) -> (b, q, k)>
#row = affine_map<(b, q, k) -> (b, q)>
#last = affine_map<(b, q, k) -> (k)>
func.func @known(%q: tensor<1x8x64xf32>, %k: tensor<1x130x64xf32>, %v: tensor<1x130x64xf32>) -> tensor<1x8x64xf32> {
  %s = graph.compute ins(%q, %k : tensor<1x8x64xf32>, tensor<1x130x64xf32>) -> tensor<1x8x130xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, maps = [#qd, #kd, #qk]} {
  ^bb0(%a: f32, %b: f32):
    %2 = arith.mulf %a, %b : f32
    graph.yield %2 : f32
  }
  %m = graph.compute ins(%s : tensor<1x8x130xf32>) -> tensor<1x8xf32> {combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %e = graph.compute ins(%s, %m : tensor<1x8x130xf32>, tensor<1x8xf32>) -> tensor<1x8x130xf32> {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    graph.yield %1 : f32
  }
  %t = graph.compute ins(%e : tensor<1x8x130xf32>) -> tensor<1x8xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %w = graph.compute ins(%e, %t : tensor<1x8x130xf32>, tensor<1x8xf32>) -> tensor<1x8x130xf32> {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.divf %a, %b : f32
    graph.yield %0 : f32
  }
  %y = graph.compute ins(%w, %v : tensor<1x8x130xf32>, tensor<1x130x64xf32>) -> tensor<1x8x64xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, maps = [#pk, #kv, #qv]} {
  ^bb0(%a: f32, %b: f32):
    %2 = arith.mulf %a, %b : f32
    graph.yield %2 : f32
  }
  return %y : tensor<1x8x64xf32>
}
