// RUN: sutura-opt %s --raise-attention --expand-operators --stitch | FileCheck %s
// RUN: sutura-opt %s --raise-attention --expand-operators --stitch --convert-graph-to-gir | FileCheck %s --check-prefix=GIR
// RUN: sutura-opt %s --raise-attention --expand-operators --stitch --convert-graph-to-gir | sutura-opt --tensorize --canonicalize | FileCheck %s --check-prefix=GIR

!q = tensor<?x?x16xf32, #dyn.shape<[B, Q, 16]>>
!k = tensor<?x?x16xf32, #dyn.shape<[B, K, 16]>>
!s = tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>>
!r = tensor<?x?xf32, #dyn.shape<[B, Q]>>
#qd = affine_map<(b, q, k, d) -> (b, q, d)>
#kd = affine_map<(b, q, k, d) -> (b, k, d)>
#qk = affine_map<(b, q, k, d) -> (b, q, k)>
#pk = affine_map<(b, q, v, k) -> (b, q, k)>
#kv = affine_map<(b, q, v, k) -> (b, k, v)>
#qv = affine_map<(b, q, v, k) -> (b, q, v)>
#id = affine_map<(b, q, k) -> (b, q, k)>
#row = affine_map<(b, q, k) -> (b, q)>

// Two products with the softmax between them are one region, and a kernel that never writes scores: keys are resident up to
// a bound, and come in blocks beyond it. A few queries read them as they lie.
// CHECK-LABEL: func.func @attention
// CHECK: graph.fusion(%q, %k, %v :
// CHECK-NOT: graph.fusion
// GIR: gir.kernel @attention_attention0
// GIR-SAME: grid(%{{.*}} = B, %{{.*}} = Q)
// GIR: gir.kernel @attention_attention1
// GIR-SAME: requires([-K + [[KEYS:[0-9]+]]]) grid(%{{.*}} = B)
// GIR: gir.alloc owner("unit") : !gir.view<l1, f32, [{{[0-9]+}}, 16, 32]>
// GIR: gir.kernel @attention_attention2
// GIR-SAME: grid(%{{.*}} = B, %{{.*}} = (Q + 95) floordiv 96)

// GIR: select if [-Q + 8, -K + 65536], [-K + [[KEYS]]]
func.func @attention(%q: !q, %k: !k, %v: !k) -> !q {
  %B = dyn.symbol "B" : index
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  %scores = graph.compute ins(%q, %k : !q, !k) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#qd, #kd, #qk]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  %max = graph.compute ins(%scores : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %exp = graph.compute ins(%scores, %max : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.subf %a, %b : f32
    %y = math.exp %x : f32
    graph.yield %y : f32
  }
  %sum = graph.compute ins(%exp : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %p = graph.compute ins(%exp, %sum : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.divf %a, %b : f32
    graph.yield %x : f32
  }
  %out = graph.compute ins(%p, %v : !s, !k) -> !q {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#pk, #kv, #qv]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  func.return %out : !q
}

// Weights that are used outside have to be written, so the products stay apart.
// CHECK-LABEL: func.func @weights_are_returned
// CHECK: graph.fusion
// CHECK: graph.fusion
// CHECK: graph.fusion
func.func @weights_are_returned(%q: !q, %k: !k, %v: !k) -> (!q, !s) {
  %B = dyn.symbol "B" : index
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  %scores = graph.compute ins(%q, %k : !q, !k) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#qd, #kd, #qk]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  %max = graph.compute ins(%scores : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %exp = graph.compute ins(%scores, %max : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.subf %a, %b : f32
    %y = math.exp %x : f32
    graph.yield %y : f32
  }
  %sum = graph.compute ins(%exp : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %p = graph.compute ins(%exp, %sum : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.divf %a, %b : f32
    graph.yield %x : f32
  }
  %out = graph.compute ins(%p, %v : !s, !k) -> !q {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#pk, #kv, #qv]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  func.return %out, %p : !q, !s
}
