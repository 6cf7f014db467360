// What looks like a softmax and is none keeps its ops, and is never one kernel with two products around it.
// RUN: sutura-opt %s --raise-attention --expand-operators --canonicalize --cse --stitch -o %t.out --remarks 2> %t.said
// RUN: FileCheck %s --input-file=%t.out
// RUN: FileCheck %s --input-file=%t.said --check-prefix=SAID
// RUN: sutura-opt %s --raise-attention --check-passes | FileCheck %s --check-prefix=RAISED

// SAID-NOT: family 'attention'
// SAID: a region of the family
// SAID-NOT: family 'attention'
// CHECK-NOT: graph.operator =
// RAISED-NOT: graph.apply
!q = tensor<?x2x?x16xf32, #dyn.shape<[B, 2, L, 16]>>
!k = tensor<?x2x?x16xf32, #dyn.shape<[B, 2, S, 16]>>
!s = tensor<?x2x?x?xf32, #dyn.shape<[B, 2, L, S]>>
!r = tensor<?x2x?xf32, #dyn.shape<[B, 2, L]>>
!m = tensor<?x1x1x?xf32, #dyn.shape<[B, 1, 1, S]>>
#qd = affine_map<(b, h, l, s, d) -> (b, h, l, d)>
#kd = affine_map<(b, h, l, s, d) -> (b, h, s, d)>
#ls = affine_map<(b, h, l, s, d) -> (b, h, l, s)>
#w = affine_map<(b, h, l, e, s) -> (b, h, l, s)>
#v = affine_map<(b, h, l, e, s) -> (b, h, s, e)>
#y = affine_map<(b, h, l, e, s) -> (b, h, l, e)>
#id = affine_map<(b, h, l, s) -> (b, h, l, s)>
#row = affine_map<(b, h, l, s) -> (b, h, l)>
#keys = affine_map<(b, h, l, s) -> (b, 0, 0, s)>

func.func @least_in_the_place_of_most(%q: !q, %k: !k, %v: !k) -> !q {
  %scores = graph.compute ins(%q, %k : !q, !k) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#qd, #kd, #ls]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  %max = graph.compute ins(%scores : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[min]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %exp = graph.compute ins(%scores, %max : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.subf %a, %b : f32
    %y = math.exp %x : f32
    graph.yield %y : f32
  }
  %sum = graph.compute ins(%exp : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %p = graph.compute ins(%exp, %sum : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %y = arith.divf %a, %b : f32
    graph.yield %y : f32
  }
  %out = graph.compute ins(%p, %v : !s, !k) -> !q {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#w, #v, #y]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  func.return %out : !q
}

func.func @sum_in_the_place_of_most(%q: !q, %k: !k, %v: !k) -> !q {
  %scores = graph.compute ins(%q, %k : !q, !k) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#qd, #kd, #ls]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  %max = graph.compute ins(%scores : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %exp = graph.compute ins(%scores, %max : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.subf %a, %b : f32
    %y = math.exp %x : f32
    graph.yield %y : f32
  }
  %sum = graph.compute ins(%exp : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %p = graph.compute ins(%exp, %sum : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %y = arith.divf %a, %b : f32
    graph.yield %y : f32
  }
  %out = graph.compute ins(%p, %v : !s, !k) -> !q {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#w, #v, #y]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  func.return %out : !q
}

func.func @power_of_two(%q: !q, %k: !k, %v: !k) -> !q {
  %scores = graph.compute ins(%q, %k : !q, !k) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#qd, #kd, #ls]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  %max = graph.compute ins(%scores : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %exp = graph.compute ins(%scores, %max : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.subf %a, %b : f32
    %y = math.exp2 %x : f32
    graph.yield %y : f32
  }
  %sum = graph.compute ins(%exp : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %p = graph.compute ins(%exp, %sum : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %y = arith.divf %a, %b : f32
    graph.yield %y : f32
  }
  %out = graph.compute ins(%p, %v : !s, !k) -> !q {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#w, #v, #y]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  func.return %out : !q
}

func.func @sum_of_both(%q: !q, %k: !k, %v: !k) -> !q {
  %scores = graph.compute ins(%q, %k : !q, !k) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#qd, #kd, #ls]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  %max = graph.compute ins(%scores : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %exp = graph.compute ins(%scores, %max : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.addf %a, %b : f32
    %y = math.exp %x : f32
    graph.yield %y : f32
  }
  %sum = graph.compute ins(%exp : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %p = graph.compute ins(%exp, %sum : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %y = arith.divf %a, %b : f32
    graph.yield %y : f32
  }
  %out = graph.compute ins(%p, %v : !s, !k) -> !q {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#w, #v, #y]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  func.return %out : !q
}

func.func @turned_difference(%q: !q, %k: !k, %v: !k) -> !q {
  %scores = graph.compute ins(%q, %k : !q, !k) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#qd, #kd, #ls]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  %max = graph.compute ins(%scores : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %exp = graph.compute ins(%scores, %max : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.subf %b, %a : f32
    %y = math.exp %x : f32
    graph.yield %y : f32
  }
  %sum = graph.compute ins(%exp : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %p = graph.compute ins(%exp, %sum : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %one = arith.constant 1.0 : f32
    %z = arith.divf %one, %b : f32
    %y = arith.mulf %a, %z : f32
    graph.yield %y : f32
  }
  %out = graph.compute ins(%p, %v : !s, !k) -> !q {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#w, #v, #y]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  func.return %out : !q
}

func.func @no_difference(%q: !q, %k: !k, %v: !k) -> !q {
  %scores = graph.compute ins(%q, %k : !q, !k) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#qd, #kd, #ls]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  %max = graph.compute ins(%scores : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %exp = graph.compute ins(%scores, %max : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.subf %a, %a : f32
    %y = math.exp %x : f32
    graph.yield %y : f32
  }
  %sum = graph.compute ins(%exp : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %p = graph.compute ins(%exp, %sum : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %y = arith.divf %a, %b : f32
    graph.yield %y : f32
  }
  %out = graph.compute ins(%p, %v : !s, !k) -> !q {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#w, #v, #y]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  func.return %out : !q
}

func.func @most_of_powers(%q: !q, %k: !k, %v: !k) -> !q {
  %scores = graph.compute ins(%q, %k : !q, !k) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#qd, #kd, #ls]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  %max = graph.compute ins(%scores : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %exp = graph.compute ins(%scores, %max : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.subf %a, %b : f32
    %y = math.exp %x : f32
    graph.yield %y : f32
  }
  %sum = graph.compute ins(%exp : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %p = graph.compute ins(%exp, %sum : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %y = arith.divf %a, %b : f32
    graph.yield %y : f32
  }
  %out = graph.compute ins(%p, %v : !s, !k) -> !q {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#w, #v, #y]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  func.return %out : !q
}

func.func @inverse(%q: !q, %k: !k, %v: !k) -> !q {
  %scores = graph.compute ins(%q, %k : !q, !k) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#qd, #kd, #ls]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  %max = graph.compute ins(%scores : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %exp = graph.compute ins(%scores, %max : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.subf %a, %b : f32
    %y = math.exp %x : f32
    graph.yield %y : f32
  }
  %sum = graph.compute ins(%exp : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %p = graph.compute ins(%exp, %sum : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %y = arith.divf %b, %a : f32
    graph.yield %y : f32
  }
  %out = graph.compute ins(%p, %v : !s, !k) -> !q {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#w, #v, #y]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  func.return %out : !q
}

func.func @twice_the_reciprocal(%q: !q, %k: !k, %v: !k) -> !q {
  %scores = graph.compute ins(%q, %k : !q, !k) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#qd, #kd, #ls]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  %max = graph.compute ins(%scores : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %exp = graph.compute ins(%scores, %max : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.subf %a, %b : f32
    %y = math.exp %x : f32
    graph.yield %y : f32
  }
  %sum = graph.compute ins(%exp : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %p = graph.compute ins(%exp, %sum : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %one = arith.constant 2.0 : f32
    %z = arith.divf %one, %b : f32
    %y = arith.mulf %a, %z : f32
    graph.yield %y : f32
  }
  %out = graph.compute ins(%p, %v : !s, !k) -> !q {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#w, #v, #y]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  func.return %out : !q
}

func.func @product_with_the_sum(%q: !q, %k: !k, %v: !k) -> !q {
  %scores = graph.compute ins(%q, %k : !q, !k) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#qd, #kd, #ls]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  %max = graph.compute ins(%scores : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %exp = graph.compute ins(%scores, %max : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.subf %a, %b : f32
    %y = math.exp %x : f32
    graph.yield %y : f32
  }
  %sum = graph.compute ins(%exp : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %p = graph.compute ins(%exp, %sum : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %y = arith.mulf %a, %b : f32
    graph.yield %y : f32
  }
  %out = graph.compute ins(%p, %v : !s, !k) -> !q {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#w, #v, #y]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  func.return %out : !q
}

// Divided by the largest score.
func.func @by_the_largest(%q: !q, %k: !k, %v: !k) -> !q {
  %scores = graph.compute ins(%q, %k : !q, !k) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#qd, #kd, #ls]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  %max = graph.compute ins(%scores : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %exp = graph.compute ins(%scores, %max : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.subf %a, %b : f32
    %y = math.exp %x : f32
    graph.yield %y : f32
  }
  %sum = graph.compute ins(%exp : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %p = graph.compute ins(%exp, %max : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %y = arith.divf %a, %b : f32
    graph.yield %y : f32
  }
  %out = graph.compute ins(%p, %v : !s, !k) -> !q {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#w, #v, #y]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  func.return %out : !q
}

// The largest number is that of other scores.
func.func @of_others(%q: !q, %k: !k, %v: !k, %o: !s) -> !q {
  %scores = graph.compute ins(%q, %k : !q, !k) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#qd, #kd, #ls]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  %max = graph.compute ins(%o : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %exp = graph.compute ins(%scores, %max : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.subf %a, %b : f32
    %y = math.exp %x : f32
    graph.yield %y : f32
  }
  %sum = graph.compute ins(%exp : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %p = graph.compute ins(%exp, %sum : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %y = arith.divf %a, %b : f32
    graph.yield %y : f32
  }
  %out = graph.compute ins(%p, %v : !s, !k) -> !q {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#w, #v, #y]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  func.return %out : !q
}

// Powers are needed elsewhere.
func.func @powers_are_returned(%q: !q, %k: !k, %v: !k) -> (!q, !s) {
  %scores = graph.compute ins(%q, %k : !q, !k) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#qd, #kd, #ls]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  %max = graph.compute ins(%scores : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %exp = graph.compute ins(%scores, %max : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.subf %a, %b : f32
    %y = math.exp %x : f32
    graph.yield %y : f32
  }
  %sum = graph.compute ins(%exp : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %p = graph.compute ins(%exp, %sum : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %y = arith.divf %a, %b : f32
    graph.yield %y : f32
  }
  %out = graph.compute ins(%p, %v : !s, !k) -> !q {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#w, #v, #y]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  func.return %out, %exp : !q, !s
}

// All rows are divided by the sum of the first one.
func.func @by_the_first_sum(%q: !q, %k: !k, %v: !k) -> !q {
  %scores = graph.compute ins(%q, %k : !q, !k) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#qd, #kd, #ls]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  %max = graph.compute ins(%scores : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %exp = graph.compute ins(%scores, %max : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.subf %a, %b : f32
    %y = math.exp %x : f32
    graph.yield %y : f32
  }
  %sum = graph.compute ins(%exp : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %p = graph.compute ins(%exp, %sum : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, affine_map<(b, h, l, s) -> (b, h, 0)>, #id]} {
  ^bb0(%a: f32, %b: f32):
    %y = arith.divf %a, %b : f32
    graph.yield %y : f32
  }
  %out = graph.compute ins(%p, %v : !s, !k) -> !q {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#w, #v, #y]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  func.return %out : !q
}

// The sum goes along another dimension than the largest number.
func.func @along_two_dimensions(%q: !q, %k: !k, %v: !k) -> !q {
  %scores = graph.compute ins(%q, %k : !q, !k) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#qd, #kd, #ls]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  %max = graph.compute ins(%scores : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %exp = graph.compute ins(%scores, %max : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.subf %a, %b : f32
    %y = math.exp %x : f32
    graph.yield %y : f32
  }
  %sum = graph.compute ins(%exp : !s) -> tensor<?x?x?xf32, #dyn.shape<[B, L, S]>> {iterators = #graph.iterators<[parallel, reduce, parallel, parallel]>, combiners = #graph.combiners<[add]>, maps = [#id, affine_map<(b, h, l, s) -> (b, l, s)>]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %p = graph.compute ins(%exp, %sum : !s, tensor<?x?x?xf32, #dyn.shape<[B, L, S]>>) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, affine_map<(b, h, l, s) -> (b, l, s)>, #id]} {
  ^bb0(%a: f32, %b: f32):
    %y = arith.divf %a, %b : f32
    graph.yield %y : f32
  }
  %out = graph.compute ins(%p, %v : !s, !k) -> !q {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#w, #v, #y]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  func.return %out : !q
}
