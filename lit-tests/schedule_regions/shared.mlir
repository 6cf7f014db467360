// What units of a group share: read ahead, in one memory, with sums of columns; the same numbers as the graph's.
// RUN: sutura-opt %s --attach-target="name=sm_80" --convert-graph-to-gir --check-passes --remarks --split-input-file -o %t.out 2> %t.said
// RUN: FileCheck %s --input-file=%t.out
// RUN: FileCheck %s --input-file=%t.said --check-prefix=SAID
// SAID-COUNT-4: 1 functions compared

// Keys and values lie in one memory, one after the other, and wait in registers before.
// CHECK-LABEL: gir.kernel @all_kernel0(
// CHECK-COUNT-3: gir.alloc owner("group")
// CHECK-NOT: gir.alloc
// CHECK: gir.for {{.*}} carry({{.*}}, {{.*}}, {{.*}}, {{.*}}) : !gir.tile<vec, f32, [16, 1]>, !gir.tile<vec, f32, [16, 32]>, !gir.tile<vec, f32, [16, 32]>, !gir.tile<vec, f32, [8, 16]>
// CHECK: gir.sync
// CHECK: gir.contract
// CHECK: gir.sync
// CHECK: gir.sync
// CHECK: gir.contract
// CHECK: gir.sync
// CHECK: gir.reduce "add" "cols"
#qd = affine_map<(q, k, d) -> (q, d)>
#kd = affine_map<(q, k, d) -> (k, d)>
#qk = affine_map<(q, k, d) -> (q, k)>
#pk = affine_map<(q, v, k) -> (q, k)>
#kv = affine_map<(q, v, k) -> (k, v)>
#qv = affine_map<(q, v, k) -> (q, v)>
#id = affine_map<(q, k) -> (q, k)>
#row = affine_map<(q, k) -> (q)>
func.func @all(%q: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %k: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %v: tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  %y = graph.fusion(%q, %k, %v : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {schedule = #schedule.tree<
    version {
      hoist p:4 out:5
      kernel { loop d3 by 32 grid { loop d0 by 64 grid { loop d0 by 16 units {
        cache scores:0.0 rows d0 cols d2 in shared padded

        loop d1 by 32 online most:1 {
          cache scores:0.1 rows d1 cols d2 in shared padded pitch 36 ahead
          loop d2 by 4 { contract scores:0 rows d0 cols d1 in vec padded }
          place most:1 rows d0 cols d1 in vec padded
          cache p:4.0 rows d0 cols d1 in shared padded { place exp:2 rows d0 cols d1 in vec padded place sum:3 rows d0 cols d1 in vec padded columnwise }
          cache p:4.1 rows d1 cols d3 in shared padded pitch 36 ahead
          loop d1 by 4 { contract p:4 rows d0 cols d3 in vec padded }
        }
        place out:5 rows d0 cols d3 in vec padded
      } } } }
    }
  >} {
  ^bb0(%i: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %j: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %l: tensor<?x16xf32, #dyn.shape<[K, 16]>>):
    %scores = graph.compute ins(%i, %j : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x?xf32, #dyn.shape<[Q, K]>> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#qd, #kd, #qk]} {
    ^bb0(%a: f32, %b: f32):
      %x = arith.mulf %a, %b : f32
      graph.yield %x : f32
    }
    %most = graph.compute ins(%scores : tensor<?x?xf32, #dyn.shape<[Q, K]>>) -> tensor<?xf32, #dyn.shape<[Q]>> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #row]} {
    ^bb0(%a: f32):
      graph.yield %a : f32
    }
    %exp = graph.compute ins(%scores, %most : tensor<?x?xf32, #dyn.shape<[Q, K]>>, tensor<?xf32, #dyn.shape<[Q]>>) -> tensor<?x?xf32, #dyn.shape<[Q, K]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%a: f32, %b: f32):
      %x = arith.subf %a, %b : f32
      %z = math.exp %x : f32
      graph.yield %z : f32
    }
    %sum = graph.compute ins(%exp : tensor<?x?xf32, #dyn.shape<[Q, K]>>) -> tensor<?xf32, #dyn.shape<[Q]>> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #row]} {
    ^bb0(%a: f32):
      graph.yield %a : f32
    }
    %p = graph.compute ins(%exp, %sum : tensor<?x?xf32, #dyn.shape<[Q, K]>>, tensor<?xf32, #dyn.shape<[Q]>>) -> tensor<?x?xf32, #dyn.shape<[Q, K]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%a: f32, %b: f32):
      %x = arith.divf %a, %b : f32
      graph.yield %x : f32
    }
    %out = graph.compute ins(%p, %l : tensor<?x?xf32, #dyn.shape<[Q, K]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#pk, #kv, #qv]} {
    ^bb0(%a: f32, %b: f32):
      %x = arith.mulf %a, %b : f32
      graph.yield %x : f32
    }
    graph.yield %out : tensor<?x16xf32, #dyn.shape<[Q, 16]>>
  }
  return %y : tensor<?x16xf32, #dyn.shape<[Q, 16]>>
}

// -----

// Without: memories that differ, no tile that is carried from block to block, and sums of rows.
// CHECK-LABEL: gir.kernel @none_kernel0(
// CHECK-COUNT-4: gir.alloc owner("group")
// CHECK: gir.for {{.*}} carry({{.*}}, {{.*}}, {{.*}}) : !gir.tile<vec, f32, [16, 1]>, !gir.tile<vec, f32, [16, 1]>, !gir.tile<vec, f32, [16, 32]> {
// CHECK: gir.sync
// CHECK: gir.contract
// CHECK: gir.reduce "add" "cols"
// CHECK: gir.sync
// CHECK: gir.contract
// CHECK: gir.sync
#qd = affine_map<(q, k, d) -> (q, d)>
#kd = affine_map<(q, k, d) -> (k, d)>
#qk = affine_map<(q, k, d) -> (q, k)>
#pk = affine_map<(q, v, k) -> (q, k)>
#kv = affine_map<(q, v, k) -> (k, v)>
#qv = affine_map<(q, v, k) -> (q, v)>
#id = affine_map<(q, k) -> (q, k)>
#row = affine_map<(q, k) -> (q)>
func.func @none(%q: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %k: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %v: tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  %y = graph.fusion(%q, %k, %v : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {schedule = #schedule.tree<
    version {
      hoist p:4 out:5
      kernel { loop d3 by 32 grid { loop d0 by 64 grid { loop d0 by 16 units {
        cache scores:0.0 rows d0 cols d2 in shared padded

        loop d1 by 32 online most:1 {
          cache scores:0.1 rows d1 cols d2 in shared padded
          loop d2 by 4 { contract scores:0 rows d0 cols d1 in vec padded }
          place most:1 rows d0 cols d1 in vec padded
          cache p:4.0 rows d0 cols d1 in shared padded { place exp:2 rows d0 cols d1 in vec padded place sum:3 rows d0 cols d1 in vec padded }
          cache p:4.1 rows d1 cols d3 in shared padded pitch 40
          loop d1 by 4 { contract p:4 rows d0 cols d3 in vec padded }
        }
        place out:5 rows d0 cols d3 in vec padded
      } } } }
    }
  >} {
  ^bb0(%i: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %j: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %l: tensor<?x16xf32, #dyn.shape<[K, 16]>>):
    %scores = graph.compute ins(%i, %j : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x?xf32, #dyn.shape<[Q, K]>> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#qd, #kd, #qk]} {
    ^bb0(%a: f32, %b: f32):
      %x = arith.mulf %a, %b : f32
      graph.yield %x : f32
    }
    %most = graph.compute ins(%scores : tensor<?x?xf32, #dyn.shape<[Q, K]>>) -> tensor<?xf32, #dyn.shape<[Q]>> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #row]} {
    ^bb0(%a: f32):
      graph.yield %a : f32
    }
    %exp = graph.compute ins(%scores, %most : tensor<?x?xf32, #dyn.shape<[Q, K]>>, tensor<?xf32, #dyn.shape<[Q]>>) -> tensor<?x?xf32, #dyn.shape<[Q, K]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%a: f32, %b: f32):
      %x = arith.subf %a, %b : f32
      %z = math.exp %x : f32
      graph.yield %z : f32
    }
    %sum = graph.compute ins(%exp : tensor<?x?xf32, #dyn.shape<[Q, K]>>) -> tensor<?xf32, #dyn.shape<[Q]>> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #row]} {
    ^bb0(%a: f32):
      graph.yield %a : f32
    }
    %p = graph.compute ins(%exp, %sum : tensor<?x?xf32, #dyn.shape<[Q, K]>>, tensor<?xf32, #dyn.shape<[Q]>>) -> tensor<?x?xf32, #dyn.shape<[Q, K]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%a: f32, %b: f32):
      %x = arith.divf %a, %b : f32
      graph.yield %x : f32
    }
    %out = graph.compute ins(%p, %l : tensor<?x?xf32, #dyn.shape<[Q, K]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#pk, #kv, #qv]} {
    ^bb0(%a: f32, %b: f32):
      %x = arith.mulf %a, %b : f32
      graph.yield %x : f32
    }
    graph.yield %out : tensor<?x16xf32, #dyn.shape<[Q, 16]>>
  }
  return %y : tensor<?x16xf32, #dyn.shape<[Q, 16]>>
}

// -----

// Blocks of 64 keys, of which a contraction sums 8 at a time; values are read before weights are made.
// CHECK-LABEL: gir.kernel @long_kernel0(
// CHECK: gir.contract {{.*}} : !gir.tile<vec, f32, [16, 4]>, !gir.tile<vec, f32, [4, 64]>
// CHECK: gir.contract {{.*}} : !gir.tile<vec, f32, [16, 8]>, !gir.tile<vec, f32, [8, 32]>
#qd = affine_map<(q, k, d) -> (q, d)>
#kd = affine_map<(q, k, d) -> (k, d)>
#qk = affine_map<(q, k, d) -> (q, k)>
#pk = affine_map<(q, v, k) -> (q, k)>
#kv = affine_map<(q, v, k) -> (k, v)>
#qv = affine_map<(q, v, k) -> (q, v)>
#id = affine_map<(q, k) -> (q, k)>
#row = affine_map<(q, k) -> (q)>
func.func @long(%q: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %k: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %v: tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  %y = graph.fusion(%q, %k, %v : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {schedule = #schedule.tree<
    version {
      hoist p:4 out:5
      kernel { loop d3 by 32 grid { loop d0 by 64 grid { loop d0 by 16 units {
        cache scores:0.0 rows d0 cols d2 in shared padded

        loop d1 by 64 online most:1 {
          cache scores:0.1 rows d1 cols d2 in shared padded pitch 36 ahead
          loop d2 by 4 { contract scores:0 rows d0 cols d1 in vec padded }
          place most:1 rows d0 cols d1 in vec padded
          cache p:4.1 rows d1 cols d3 in shared padded pitch 36 ahead cache p:4.0 rows d0 cols d1 in shared padded { place exp:2 rows d0 cols d1 in vec padded place sum:3 rows d0 cols d1 in vec padded columnwise }

          loop d1 by 8 { contract p:4 rows d0 cols d3 in vec padded }
        }
        place out:5 rows d0 cols d3 in vec padded
      } } } }
    }
  >} {
  ^bb0(%i: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %j: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %l: tensor<?x16xf32, #dyn.shape<[K, 16]>>):
    %scores = graph.compute ins(%i, %j : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x?xf32, #dyn.shape<[Q, K]>> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#qd, #kd, #qk]} {
    ^bb0(%a: f32, %b: f32):
      %x = arith.mulf %a, %b : f32
      graph.yield %x : f32
    }
    %most = graph.compute ins(%scores : tensor<?x?xf32, #dyn.shape<[Q, K]>>) -> tensor<?xf32, #dyn.shape<[Q]>> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #row]} {
    ^bb0(%a: f32):
      graph.yield %a : f32
    }
    %exp = graph.compute ins(%scores, %most : tensor<?x?xf32, #dyn.shape<[Q, K]>>, tensor<?xf32, #dyn.shape<[Q]>>) -> tensor<?x?xf32, #dyn.shape<[Q, K]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%a: f32, %b: f32):
      %x = arith.subf %a, %b : f32
      %z = math.exp %x : f32
      graph.yield %z : f32
    }
    %sum = graph.compute ins(%exp : tensor<?x?xf32, #dyn.shape<[Q, K]>>) -> tensor<?xf32, #dyn.shape<[Q]>> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #row]} {
    ^bb0(%a: f32):
      graph.yield %a : f32
    }
    %p = graph.compute ins(%exp, %sum : tensor<?x?xf32, #dyn.shape<[Q, K]>>, tensor<?xf32, #dyn.shape<[Q]>>) -> tensor<?x?xf32, #dyn.shape<[Q, K]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%a: f32, %b: f32):
      %x = arith.divf %a, %b : f32
      graph.yield %x : f32
    }
    %out = graph.compute ins(%p, %l : tensor<?x?xf32, #dyn.shape<[Q, K]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#pk, #kv, #qv]} {
    ^bb0(%a: f32, %b: f32):
      %x = arith.mulf %a, %b : f32
      graph.yield %x : f32
    }
    graph.yield %out : tensor<?x16xf32, #dyn.shape<[Q, 16]>>
  }
  return %y : tensor<?x16xf32, #dyn.shape<[Q, 16]>>
}

// -----

// Factors of a product are read ahead of the blocks that are multiplied.
// CHECK-LABEL: gir.kernel @ahead_contract0(
// CHECK: gir.for {{.*}} carry({{.*}}, {{.*}}, {{.*}}) : !gir.tile<vec, f32, [16, 32]>, !gir.tile<vec, f32, [16, 16]>, !gir.tile<vec, f32, [4, 32]> {
// CHECK: gir.load {{.*}} pad
// CHECK: gir.load {{.*}} pad
// CHECK: gir.sync
// CHECK: gir.contract
// CHECK: gir.sync
#left = affine_map<(m, n, k) -> (m, k)>
#right = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
func.func @ahead(%a: tensor<?x?xf32, #dyn.shape<[M, K]>>, %b: tensor<?x?xf32, #dyn.shape<[K, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %K = dyn.symbol "K" : index
  %y = graph.fusion(%a, %b : tensor<?x?xf32, #dyn.shape<[M, K]>>, tensor<?x?xf32, #dyn.shape<[K, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version {
      kernel { loop d1 by 32 grid { loop d0 by 64 grid { loop d0 by 16 units {
        loop d2 by 16 {
          cache s:0.0 rows d0 cols d2 in shared padded ahead
          cache s:0.1 rows d2 cols d1 in shared padded ahead
          loop d2 by 4 { contract s:0 rows d0 cols d1 in vec }
        }
      } } } }
    }
  >} {
  ^bb0(%i: tensor<?x?xf32, #dyn.shape<[M, K]>>, %j: tensor<?x?xf32, #dyn.shape<[K, N]>>):
    %s = graph.compute ins(%i, %j : tensor<?x?xf32, #dyn.shape<[M, K]>>, tensor<?x?xf32, #dyn.shape<[K, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#left, #right, #out]} {
    ^bb0(%x: f32, %z: f32):
      %t = arith.mulf %x, %z : f32
      graph.yield %t : f32
    }
    graph.yield %s : tensor<?x?xf32, #dyn.shape<[M, N]>>
  }
  return %y : tensor<?x?xf32, #dyn.shape<[M, N]>>
}
