// A program that declares another softmax, or another attention, keeps them.
// RUN: sutura-opt %s --raise-attention --remarks -o %t.out 2>&1 | FileCheck %s --check-prefix=SAID
// RUN: FileCheck %s --input-file=%t.out
// RUN: sutura-opt %s --raise-attention --expand-operators --stitch --check-passes --remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=APART

// SAID: remark: is no attention: the program declares another @attention
// CHECK-NOT: graph.operator @attention
// APART: a region of the family
// APART-NOT: family 'attention'
!q = tensor<?x2x?x16xf32, #dyn.shape<[B, 2, L, 16]>>
!k = tensor<?x2x?x16xf32, #dyn.shape<[B, 2, S, 16]>>
!s = tensor<?x2x?x?xf32, #dyn.shape<[B, 2, L, S]>>
#r = affine_map<(o, n) -> (o, n)>
#qd = affine_map<(b, h, q, k, d) -> (b, h, q, d)>
#kd = affine_map<(b, h, q, k, d) -> (b, h, k, d)>
#qk = affine_map<(b, h, q, k, d) -> (b, h, q, k)>
#pk = affine_map<(b, h, q, v, k) -> (b, h, q, k)>
#kv = affine_map<(b, h, q, v, k) -> (b, h, k, v)>
#qv = affine_map<(b, h, q, v, k) -> (b, h, q, v)>
graph.operator @softmax {summary = "a softmax with base 2", elements = [f32], groups = {O = "before axis", N}, attributes = {axis = -1 : i64}} {
^bb0(%x: tensor<?x?xf32, #dyn.shape<[O, N]>>):
  %y = graph.compute ins(%x : tensor<?x?xf32, #dyn.shape<[O, N]>>) -> tensor<?x?xf32, #dyn.shape<[O, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#r, #r]} {
  ^bb0(%e: f32):
    %z = math.exp2 %e : f32
    graph.yield %z : f32
  }
  graph.yield %y : tensor<?x?xf32, #dyn.shape<[O, N]>>
}

// CHECK-LABEL: func.func @named
// CHECK: graph.apply @softmax
func.func @named(%q: !q, %k: !k, %v: !k) -> !q {
  %scores = graph.compute ins(%q, %k : !q, !k) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#qd, #kd, #qk]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  %p = graph.apply @softmax(%scores) {axis = 3 : i64} : (!s) -> !s
  %out = graph.compute ins(%p, %v : !s, !k) -> !q {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#pk, #kv, #qv]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  func.return %out : !q
}
