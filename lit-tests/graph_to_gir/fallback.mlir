// A rule whose kernels are not proved is replaced: the region's ops become kernels one by one, each by the first rule
// whose kernels are. The fault that is planted leaves a store out.
// RUN: sutura-opt %s --raise-attention --expand-operators --stitch --convert-graph-to-gir="plant-fault=attention" --check-passes --remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=ATTENTION
// RUN: sutura-opt %s --raise-attention --expand-operators --stitch --convert-graph-to-gir="plant-fault=row" --check-passes --remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=ROW
// RUN: sutura-opt %s --raise-attention --expand-operators --stitch --convert-graph-to-gir="plant-fault=contract" --check-passes --remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=CONTRACT
// RUN: sutura-opt %s --raise-attention --expand-operators --stitch --convert-graph-to-gir="plant-fault=attention" | FileCheck %s
// RUN: not sutura-opt %s --raise-attention --expand-operators --stitch --convert-graph-to-gir="plant-fault=all" -o /dev/null 2>&1 | FileCheck %s --check-prefix=LAST

// ATTENTION: remark: {{.*}}is not lowered by the rule 'attention', whose kernels are not proved: 'gir.kernel' op never writes
// ATTENTION: remark: 4 functions compared
// ROW: remark: {{.*}}is not lowered by the rule 'row', whose kernels are not proved: 'gir.kernel' op never writes
// ROW: remark: 4 functions compared
// CONTRACT: remark: {{.*}}is not lowered by the rule 'contract', whose kernels are not proved: 'gir.kernel' op never writes
// CONTRACT: remark: 4 functions compared
// Nothing comes after plain loops.
// LAST: error: 'graph.fusion' op has an op that no rule lowers with a proof
// LAST-NOT: left IR that does not verify

// Ops one by one, with temporaries between them.
// CHECK-LABEL: rt.program @attention(
// CHECK: alloc : !rt.buffer<f32, [B, Q, K]>
// CHECK-COUNT-9: launch @
// CHECK-LABEL: rt.program @row(
!q = tensor<?x?x16xf32, #dyn.shape<[B, Q, 16]>>
!k = tensor<?x?x16xf32, #dyn.shape<[B, K, 16]>>
!v = tensor<?x?x16xf32, #dyn.shape<[B, K, 16]>>
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

func.func @attention(%q: !q, %k: !k, %v: !v) -> !q {
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
  %out = graph.compute ins(%p, %v : !s, !v) -> !q {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#pk, #kv, #qv]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  return %out : !q
}

func.func @row(%x: !s) -> !s {
  %B = dyn.symbol "B" : index
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  %max = graph.compute ins(%x : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %y = graph.compute ins(%x, %max : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %z = arith.subf %a, %b : f32
    graph.yield %z : f32
  }
  return %y : !s
}

func.func @product(%q: !q, %k: !k) -> !s {
  %B = dyn.symbol "B" : index
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  %scores = graph.compute ins(%q, %k : !q, !k) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#qd, #kd, #qk]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  return %scores : !s
}

// A region of one op that a loop computes.
func.func @turn(%x: tensor<?x?xf32, #dyn.shape<[B, Q]>>) -> tensor<?x?xf32, #dyn.shape<[Q, B]>> {
  %B = dyn.symbol "B" : index
  %Q = dyn.symbol "Q" : index
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[B, Q]>>) -> tensor<?x?xf32, #dyn.shape<[Q, B]>> {
  ^bb0(%in: tensor<?x?xf32, #dyn.shape<[B, Q]>>):
    %B_0 = dyn.symbol "B" : index
    %Q_0 = dyn.symbol "Q" : index
    %z = graph.compute ins(%in : tensor<?x?xf32, #dyn.shape<[B, Q]>>) -> tensor<?x?xf32, #dyn.shape<[Q, B]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(q, b) -> (b, q)>, affine_map<(q, b) -> (q, b)>]} {
    ^bb0(%a: f32):
      graph.yield %a : f32
    }
    graph.yield %z : tensor<?x?xf32, #dyn.shape<[Q, B]>>
  }
  return %y : tensor<?x?xf32, #dyn.shape<[Q, B]>>
}
