// Constant sizes of 0. Every result is stored, as a kernel has to write what it is given for that; a sum without places is zero, for
// which no factor is packed or read. What folds the loops that have no trip leaves IR that verifies.
// RUN: sutura-opt %s --attach-target="name=sm_80" --raise-attention --expand-operators --stitch --convert-graph-to-gir --canonicalize --split-input-file | FileCheck %s
// RUN: sutura-opt %s --attach-target="name=x86_avx2" --raise-attention --expand-operators --stitch --convert-graph-to-gir --canonicalize --split-input-file | FileCheck %s
// RUN: sutura-opt %s --attach-target="name=sm_80" --raise-attention --expand-operators --stitch --convert-graph-to-gir --split-input-file --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=SAID
// SAID: a group has one unit: queries and keys have 0 numbers, and values 16
// SAID: a group has one unit: queries and keys have 16 numbers, and values 0
// SAID: a group has one unit: there are 0 queries at most
// SAID: a unit has a tile of {{.*}} of the product for itself: its sums have no more than 0 places

// Scores of nothing are zero.
// CHECK-LABEL: gir.kernel @no_depth_attention0(
// CHECK-NOT: gir.load {{.*}} !gir.slice<dram, f32, [8,
// CHECK: gir.store {{.*}} !gir.slice<dram,
// CHECK-LABEL: gir.kernel @no_depth_attention1(
// CHECK: gir.store {{.*}} !gir.slice<dram,
!q = tensor<?x?x0xf32, #dyn.shape<[B, Q, 0]>>
!k = tensor<?x?x0xf32, #dyn.shape<[B, K, 0]>>
!v = tensor<?x?x16xf32, #dyn.shape<[B, K, 16]>>
!o = tensor<?x?x16xf32, #dyn.shape<[B, Q, 16]>>
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

func.func @no_depth(%q: !q, %k: !k, %v: !v) -> !o {
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
  %out = graph.compute ins(%p, %v : !s, !v) -> !o {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#pk, #kv, #qv]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  return %out : !o
}

// -----

// A result without columns is a part of one panel.
// CHECK-LABEL: gir.kernel @no_width_attention0(
// CHECK: gir.store {{.*}} !gir.slice<dram,
// CHECK-LABEL: gir.kernel @no_width_attention1(
// CHECK: gir.store {{.*}} !gir.slice<dram,
!q = tensor<?x?x16xf32, #dyn.shape<[B, Q, 16]>>
!k = tensor<?x?x16xf32, #dyn.shape<[B, K, 16]>>
!v = tensor<?x?x0xf32, #dyn.shape<[B, K, 0]>>
!o = tensor<?x?x0xf32, #dyn.shape<[B, Q, 0]>>
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

func.func @no_width(%q: !q, %k: !k, %v: !v) -> !o {
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
  %out = graph.compute ins(%p, %v : !s, !v) -> !o {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#pk, #kv, #qv]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  return %out : !o
}

// -----

// A group that has all queries would store nothing: groups have some each, and there are none.
// CHECK-LABEL: gir.kernel @no_queries_attention0(
// CHECK-SAME: [B, 0, 16]> out)
// CHECK-SAME: = 0) units(1)
// CHECK: gir.store {{.*}} !gir.slice<dram,
// CHECK-NOT: gir.kernel
!q = tensor<?x0x16xf32, #dyn.shape<[B, 0, 16]>>
!k = tensor<?x?x16xf32, #dyn.shape<[B, K, 16]>>
!v = tensor<?x?x16xf32, #dyn.shape<[B, K, 16]>>
!o = tensor<?x0x16xf32, #dyn.shape<[B, 0, 16]>>
!s = tensor<?x0x?xf32, #dyn.shape<[B, 0, K]>>
!r = tensor<?x0xf32, #dyn.shape<[B, 0]>>
#qd = affine_map<(b, q, k, d) -> (b, q, d)>
#kd = affine_map<(b, q, k, d) -> (b, k, d)>
#qk = affine_map<(b, q, k, d) -> (b, q, k)>
#pk = affine_map<(b, q, v, k) -> (b, q, k)>
#kv = affine_map<(b, q, v, k) -> (b, k, v)>
#qv = affine_map<(b, q, v, k) -> (b, q, v)>
#id = affine_map<(b, q, k) -> (b, q, k)>
#row = affine_map<(b, q, k) -> (b, q)>

func.func @no_queries(%q: !q, %k: !k, %v: !v) -> !o {
  %B = dyn.symbol "B" : index
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
  %out = graph.compute ins(%p, %v : !s, !v) -> !o {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#pk, #kv, #qv]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  return %out : !o
}

// -----

// CHECK-LABEL: gir.kernel @no_places_contract0(
// CHECK-SAME: [100, 0]> in, {{.*}} [0, 200]> in, {{.*}} [100, 200]> out)
// CHECK-NOT: gir.load
// CHECK: %[[ZERO:.+]] = gir.fill 0.000000e+00
// CHECK-NOT: gir.load
// CHECK: gir.store %[[ZERO]], {{.*}} !gir.slice<dram,
// CHECK-NOT: gir.kernel
#lhs = affine_map<(d0, d1, d2) -> (d0, d2)>
#rhs = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>

func.func @no_places(%x: tensor<100x0xf32>, %w: tensor<0x200xf32>) -> tensor<100x200xf32> {
  %0 = graph.compute ins(%x, %w : tensor<100x0xf32>, tensor<0x200xf32>) -> tensor<100x200xf32> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#lhs, #rhs, #out]} {
  ^bb0(%l: f32, %r: f32):
    %m = arith.mulf %l, %r : f32
    graph.yield %m : f32
  }
  return %0 : tensor<100x200xf32>
}
