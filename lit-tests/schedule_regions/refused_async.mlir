// Asynchronous copies of what units share: what is refused.
// RUN: sutura-opt %s --attach-target="name=sm_80" --convert-graph-to-gir --split-input-file --verify-diagnostics

#qd = affine_map<(q, k, d) -> (q, d)>
#kd = affine_map<(q, k, d) -> (k, d)>
#qk = affine_map<(q, k, d) -> (q, k)>
#pk = affine_map<(q, v, k) -> (q, k)>
#kv = affine_map<(q, v, k) -> (k, v)>
#qv = affine_map<(q, v, k) -> (q, v)>
#id = affine_map<(q, k) -> (q, k)>
#row = affine_map<(q, k) -> (q)>
func.func @before_the_loop(%q: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %k: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %v: tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: operand 0 of %scores is copied asynchronously, and no loop around it brings tiles of it, trip by trip}}
  %y = graph.fusion(%q, %k, %v : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {schedule = #schedule.tree<
    version {
      hoist p:4 out:5
      kernel { loop d3 by 32 grid { loop d0 by 64 grid { loop d0 by 16 units {
        cache scores:0.0 rows d0 cols d2 in shared padded async

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

#qd = affine_map<(q, k, d) -> (q, d)>
#kd = affine_map<(q, k, d) -> (k, d)>
#qk = affine_map<(q, k, d) -> (q, k)>
#pk = affine_map<(q, v, k) -> (q, k)>
#kv = affine_map<(q, v, k) -> (k, v)>
#qv = affine_map<(q, v, k) -> (q, v)>
#id = affine_map<(q, k) -> (q, k)>
#row = affine_map<(q, k) -> (q)>
func.func @not_shared(%q: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %k: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %v: tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: operand 1 of %scores is copied asynchronously, and is not in memory that units share}}
  %y = graph.fusion(%q, %k, %v : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {schedule = #schedule.tree<
    version {
      hoist p:4 out:5
      kernel { loop d3 by 32 grid { loop d0 by 64 grid { loop d0 by 16 units {
        cache scores:0.0 rows d0 cols d2 in shared padded

        loop d1 by 32 online most:1 {
          cache scores:0.1 rows d1 cols d2 in l1 padded async
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
