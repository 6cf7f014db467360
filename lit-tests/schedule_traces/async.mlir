// What units of a group share is copied asynchronously: a trip begins the copy for the next one when all units have read what it has.
// RUN: sutura-opt %s --attach-target="name=sm_80" --schedule-regions | FileCheck %s
// RUN: sutura-opt %s --attach-target="name=sm_80" --convert-graph-to-gir --check-passes --remarks -o %t.gir 2> %t.said
// RUN: FileCheck %s --input-file=%t.said --check-prefix=SAID
// RUN: FileCheck %s --input-file=%t.gir --check-prefix=GIR
// RUN: sutura-opt %t.gir --pass-pipeline='builtin.module(canonicalize,gir-simplify,loop-invariant-code-motion,cse,canonicalize)' -o %t.simple
// RUN: FileCheck %s --input-file=%t.simple --check-prefix=GIR
// RUN: sutura-opt %t.simple --convert-gir-to-gpu | FileCheck %s --check-prefix=GPU
// SAID: 1 functions compared

// CHECK: loop d1 by 32 online most:1 {
// CHECK-NEXT: cache scores:0.1 rows d1 cols d2 in shared padded pitch 36 async
// CHECK: cache p:4.1 rows d1 cols d3 in shared padded pitch 36 async

// Keys and values have a memory each, and are on their way in batches of their own: those of the next trip's keys while a trip goes on
// with its scores.
// GIR-LABEL: gir.kernel @all_kernel0(
// GIR: gir.async_copy %{{.*}}, %[[KEYS:.*]] zeros : !gir.slice<dram, f32, [8, 16]>, !gir.slice<shared, f32, [8, 16]>
// GIR-NEXT: gir.async_commit
// GIR: gir.async_copy %{{.*}}, %[[VALUES:.*]] zeros : !gir.slice<dram, f32, [8, 32]>, !gir.slice<shared, f32, [8, 32]>
// GIR-NEXT: gir.async_commit
// GIR: gir.for
// GIR: gir.async_wait 1
// GIR: gir.sync
// GIR: gir.contract
// GIR: gir.sync
// GIR: gir.async_copy
// GIR-NEXT: gir.async_commit
// GIR: gir.unary "exp"
// GIR: gir.async_wait 1
// GIR: gir.sync
// GIR: gir.contract
// GIR: gir.sync
// GIR: gir.async_copy
// GIR-NEXT: gir.async_commit
// GIR-NOT: gir.sync
// GIR: gir.yield
// GIR: gir.async_wait 0

// GPU: nvvm.cp.async.shared.global {{.*}}, 16, cache = cg
// GPU: nvvm.cp.async.wait.group 1
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
          cache scores:0.1 rows d1 cols d2 in shared padded
          loop d2 by 4 { contract scores:0 rows d0 cols d1 in vec padded }
          place most:1 rows d0 cols d1 in vec padded
          cache p:4.0 rows d0 cols d1 in shared padded { place exp:2 rows d0 cols d1 in vec padded place sum:3 rows d0 cols d1 in vec padded columnwise }
          cache p:4.1 rows d1 cols d3 in shared padded pitch 36 ahead
          loop d1 by 4 { contract p:4 rows d0 cols d3 in vec padded }
        }
        place out:5 rows d0 cols d3 in vec padded
      } } } }
    }
  >, trace = #schedule.trace<pipeline scores:0.1 async set_layout scores:0.1 pitch 36 pipeline p:4.1 async>} {
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
