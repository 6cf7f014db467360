// Attention on a GPU: groups of four units, which share blocks of keys and values in the group's memory; on a CPU, groups of one.
// RUN: sutura-opt %s --attach-target="name=sm_80" --raise-attention --expand-operators --stitch --convert-graph-to-gir --split-input-file | FileCheck %s
// RUN: sutura-opt %s --attach-target="name=x86_avx2" --raise-attention --expand-operators --stitch --convert-graph-to-gir --split-input-file | FileCheck %s --check-prefix=CPU
// RUN: sutura-opt %s --attach-target="name=sm_80" --raise-attention --expand-operators --stitch --convert-graph-to-gir --split-input-file --remarks 2>&1 | FileCheck %s --check-prefix=SAID
// CPU-NOT: units(%
// CPU-NOT: gir.sync

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

// One kernel for any number of keys: of 64 queries a unit has 16. Blocks of 32 keys, and of their values, lie in one memory, in
// rows of an odd number of accesses; all units have read the one before any writes the other.
// SAID: a group of 4 units has 64 queries, and 32 keys and their values in 'shared'
// CHECK-NOT:   requires
// CHECK-LABEL: gir.kernel @some_attention0(
// CHECK-SAME:  grid(%[[B:.*]] = B, %{{.*}} = 1, %[[TILE:.*]] = (Q + 63) floordiv 64) units(%[[UNIT:.*]], 4)
// CHECK-DAG: %[[QUERIES:.*]] = gir.alloc owner("group") : !gir.view<shared, f32, [64, 16]>
// CHECK-DAG: %[[BLOCK:.*]] = gir.alloc owner("group") : !gir.view<shared, f32, [32, 36]>
// CHECK-DAG: %[[WEIGHTS:.*]] = gir.alloc owner("group") : !gir.view<shared, f32, [64, 32]>
// CHECK: gir.slice %[[QUERIES]]
// CHECK: gir.store
// The first keys are read before the loop, each of the others before the product before is computed.
// CHECK: %[[FIRST:.*]] = gir.load %{{.*}} pad(0.000000e+00 : f32) : !gir.slice<dram, f32, [8, 16]>
// CHECK: gir.for {{.*}} carry(%[[LARGEST:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %[[KEYS:.*]] = %[[FIRST]]) : !gir.tile<vec, f32, [16, 1]>, !gir.tile<vec, f32, [16, 32]>, !gir.tile<vec, f32, [16, 32]>, !gir.tile<vec, f32, [8, 16]>
// CHECK: gir.slice %[[BLOCK]]
// CHECK: gir.store %[[KEYS]]
// CHECK: %[[VALUES:.*]] = gir.load %{{.*}} pad(0.000000e+00 : f32) : !gir.slice<dram, f32, [8, 32]>
// CHECK: gir.sync
// CHECK: gir.for
// CHECK: gir.slice %[[BLOCK]]{{.*}} rows(1) cols(0) : {{.*}} -> !gir.slice<shared, f32, [4, 32]>
// CHECK: gir.contract {{.*}} : !gir.tile<vec, f32, [16, 4]>, !gir.tile<vec, f32, [4, 32]>, !gir.tile<vec, f32, [16, 32]>
// Behind the last key there is none.
// CHECK: gir.ternary "select"
// CHECK: gir.reduce "max" "cols"
// CHECK: gir.binary "max" %[[LARGEST]]
// CHECK: gir.slice %[[WEIGHTS]]
// CHECK: gir.store
// CHECK: gir.sync
// CHECK: gir.slice %[[BLOCK]]
// CHECK: gir.store %[[VALUES]]
// CHECK: gir.load %{{.*}} pad(0.000000e+00 : f32) : !gir.slice<dram, f32, [8, 16]>
// CHECK: gir.sync
// CHECK: gir.for
// CHECK: gir.slice %[[WEIGHTS]]
// CHECK: gir.slice %[[BLOCK]]{{.*}} rows(0) cols(1) : {{.*}} -> !gir.slice<shared, f32, [4, 32]>
// CHECK: gir.contract
// CHECK: gir.sync
// CHECK-NOT: gir.sync
// CHECK: gir.reduce "add" "cols"
// CHECK: gir.store
// CHECK-NOT: gir.kernel
// CHECK-LABEL: rt.program @some(
func.func @some(%q: !q, %k: !k, %v: !v) -> !q {
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

// -----

!q = tensor<?x?x128xf32, #dyn.shape<[B, Q, 128]>>
!k = tensor<?x?x128xf32, #dyn.shape<[B, K, 128]>>
!v = tensor<?x?x128xf32, #dyn.shape<[B, K, 128]>>
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

// Long vectors leave room for half as many queries.
// SAID: a group of 4 units has 32 queries, and 32 keys and their values in 'shared'
// CHECK-LABEL: gir.kernel @wide_attention0(
// CHECK-SAME:  (Q + 31) floordiv 32) units(%{{.*}}, 4)
// CHECK-DAG: gir.alloc owner("group") : !gir.view<shared, f32, [32, 128]>
// CHECK-DAG: gir.alloc owner("group") : !gir.view<shared, f32, [32, 132]>
// CHECK-DAG: gir.alloc owner("group") : !gir.view<shared, f32, [32, 32]>
// CHECK: gir.contract {{.*}} : !gir.tile<vec, f32, [8, 4]>, !gir.tile<vec, f32, [4, 32]>, !gir.tile<vec, f32, [8, 32]>
// CHECK: gir.contract {{.*}} : !gir.tile<vec, f32, [8, 4]>, !gir.tile<vec, f32, [4, 128]>, !gir.tile<vec, f32, [8, 128]>
// CHECK-NOT: gir.kernel
func.func @wide(%q: !q, %k: !k, %v: !v) -> !q {
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

// -----

!q = tensor<?x16x16xf32, #dyn.shape<[B, 16, 16]>>
!k = tensor<?x?x16xf32, #dyn.shape<[B, K, 16]>>
!v = tensor<?x?x16xf32, #dyn.shape<[B, K, 16]>>
!s = tensor<?x16x?xf32, #dyn.shape<[B, 16, K]>>
!r = tensor<?x16xf32, #dyn.shape<[B, 16]>>
#qd = affine_map<(b, q, k, d) -> (b, q, d)>
#kd = affine_map<(b, q, k, d) -> (b, k, d)>
#qk = affine_map<(b, q, k, d) -> (b, q, k)>
#pk = affine_map<(b, q, v, k) -> (b, q, k)>
#kv = affine_map<(b, q, v, k) -> (b, k, v)>
#qv = affine_map<(b, q, v, k) -> (b, q, v)>
#id = affine_map<(b, q, k) -> (b, q, k)>
#row = affine_map<(b, q, k) -> (b, q)>

// So few queries are for one unit.
// SAID: a group has one unit: there are 16 queries at most
// CHECK-LABEL: gir.kernel @few_attention0(
// CHECK-SAME:  units(1)
func.func @few(%q: !q, %k: !k, %v: !v) -> !q {
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
  %out = graph.compute ins(%p, %v : !s, !v) -> !q {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#pk, #kv, #qv]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %b : f32
    graph.yield %x : f32
  }
  return %out : !q
}

// -----

!q = tensor<?x?x256xf32, #dyn.shape<[B, Q, 256]>>
!k = tensor<?x?x256xf32, #dyn.shape<[B, K, 256]>>
!v = tensor<?x?x256xf32, #dyn.shape<[B, K, 256]>>
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

// Vectors that fit no group: both products are kernels of their own.
// SAID: is no one kernel of attention: queries and keys of 256 numbers and values of 256 do not fit the memory that units share
// CHECK-NOT: gir.kernel @longest_attention
// CHECK-LABEL: gir.kernel @longest_contract0(
func.func @longest(%q: !q, %k: !k, %v: !v) -> !q {
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

// -----

!q = tensor<?x?x16xf32, #dyn.shape<[B, Q, 16]>>
!k = tensor<?x16x?xf32, #dyn.shape<[B, 16, K]>>
!v = tensor<?x?x16xf32, #dyn.shape<[B, K, 16]>>
!s = tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>>
!r = tensor<?x?xf32, #dyn.shape<[B, Q]>>
#qd = affine_map<(b, q, k, d) -> (b, q, d)>
#kd = affine_map<(b, q, k, d) -> (b, d, k)>
#qk = affine_map<(b, q, k, d) -> (b, q, k)>
#pk = affine_map<(b, q, v, k) -> (b, q, k)>
#kv = affine_map<(b, q, v, k) -> (b, k, v)>
#qv = affine_map<(b, q, v, k) -> (b, q, v)>
#id = affine_map<(b, q, k) -> (b, q, k)>
#row = affine_map<(b, q, k) -> (b, q)>

// Keys whose numbers lie apart: a copy of them would read no neighbours.
// SAID: a group has one unit: the numbers of a query, a key or a value do not lie side by side
// CHECK-LABEL: gir.kernel @turned_attention0(
// CHECK-SAME:  units(1)
func.func @turned(%q: !q, %k: !k, %v: !v) -> !q {
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
