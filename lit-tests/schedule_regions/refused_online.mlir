// Extremes that a loop uses before they are complete, sums that are scaled when they are, and panels near: what is refused.
// RUN: sutura-opt %s --convert-graph-to-gir --split-input-file --verify-diagnostics

#qd = affine_map<(q, k, d) -> (q, d)>
#kd = affine_map<(q, k, d) -> (k, d)>
#qk = affine_map<(q, k, d) -> (q, k)>
#pk = affine_map<(q, v, k) -> (q, k)>
#kv = affine_map<(q, v, k) -> (k, v)>
#qv = affine_map<(q, v, k) -> (q, v)>
#id = affine_map<(q, k) -> (q, k)>
#row = affine_map<(q, k) -> (q)>
func.func @a_sum(%q: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %k: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %v: tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: the loop over d1 has 'sum' online, which is no largest or smallest number along it}}
  %y = graph.fusion(%q, %k, %v : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {schedule = #schedule.tree<
    version {
      hoist p:4 out:5
      kernel { loop d0 by 8 grid {
        cache scores:0.0 cols d2 in l1 padded
        loop d1 by 32 online sum:3 {
          cache scores:0.1 cols d1 in l1 padded { loop d1 by 16 { loop d2 { operand scores:0.1 cols d1 in vec padded } } }
          cache p:4.1 cols d3 in l1 padded { loop d3 by 16 { loop d1 { operand p:4.1 cols d3 in vec padded } } }
          loop d0 by 4 {
            cache most:1.0 rows d0 cols d1 in l1 { loop d1 by 16 { loop d2 { contract scores:0 rows d0 cols d1 in vec padded } } }
            place most:1 rows d0 cols d1 in l1
            cache p:4.0 rows d0 cols d1 in l1 { place exp:2 rows d0 cols d1 in l1 place sum:3 rows d0 cols d1 in l1 }
            loop d3 by 16 { loop d1 { contract p:4 rows d0 cols d3 in vec padded } }
          }
        }
        loop d0 by 4 { loop d3 by 16 { place out:5 rows d0 cols d3 in vec padded } }
      } }
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
func.func @elsewhere(%q: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %k: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %v: tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: %exp reads %most, which is not made there, nor by an earlier launch}}
  %y = graph.fusion(%q, %k, %v : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {schedule = #schedule.tree<
    version {
      hoist p:4 out:5
      kernel { loop d0 by 8 grid {
        cache scores:0.0 cols d2 in l1 padded
        loop d1 by 32  {
          cache scores:0.1 cols d1 in l1 padded { loop d1 by 16 { loop d2 { operand scores:0.1 cols d1 in vec padded } } }
          cache p:4.1 cols d3 in l1 padded { loop d3 by 16 { loop d1 { operand p:4.1 cols d3 in vec padded } } }
          loop d0 by 4 {
            cache most:1.0 rows d0 cols d1 in l1 { loop d1 by 16 { loop d2 { contract scores:0 rows d0 cols d1 in vec padded } } }
            place most:1 rows d0 cols d1 in l1
            cache p:4.0 rows d0 cols d1 in l1 { place exp:2 rows d0 cols d1 in l1 place sum:3 rows d0 cols d1 in l1 }
            loop d3 by 16 online most:1 { loop d1 { contract p:4 rows d0 cols d3 in vec padded } }
          }
        }
        loop d0 by 4 { loop d3 by 16 { place out:5 rows d0 cols d3 in vec padded } }
      } }
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
func.func @not_a_power(%q: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %k: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %v: tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: %most is online, and %exp is not exp(x - m) of it}}
  %y = graph.fusion(%q, %k, %v : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {schedule = #schedule.tree<
    version {
      hoist p:4 out:5
      kernel { loop d0 by 8 grid {
        cache scores:0.0 cols d2 in l1 padded
        loop d1 by 32 online most:1 {
          cache scores:0.1 cols d1 in l1 padded { loop d1 by 16 { loop d2 { operand scores:0.1 cols d1 in vec padded } } }
          cache p:4.1 cols d3 in l1 padded { loop d3 by 16 { loop d1 { operand p:4.1 cols d3 in vec padded } } }
          loop d0 by 4 {
            cache most:1.0 rows d0 cols d1 in l1 { loop d1 by 16 { loop d2 { contract scores:0 rows d0 cols d1 in vec padded } } }
            place most:1 rows d0 cols d1 in l1
            cache p:4.0 rows d0 cols d1 in l1 { place exp:2 rows d0 cols d1 in l1 place sum:3 rows d0 cols d1 in l1 }
            loop d3 by 16 { loop d1 { contract p:4 rows d0 cols d3 in vec padded } }
          }
        }
        loop d0 by 4 { loop d3 by 16 { place out:5 rows d0 cols d3 in vec padded } }
      } }
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
      %z = math.tanh %x : f32
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
func.func @turned(%q: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %k: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %v: tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: %most is online, and %exp is not exp(x - m) of it}}
  %y = graph.fusion(%q, %k, %v : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {schedule = #schedule.tree<
    version {
      hoist p:4 out:5
      kernel { loop d0 by 8 grid {
        cache scores:0.0 cols d2 in l1 padded
        loop d1 by 32 online most:1 {
          cache scores:0.1 cols d1 in l1 padded { loop d1 by 16 { loop d2 { operand scores:0.1 cols d1 in vec padded } } }
          cache p:4.1 cols d3 in l1 padded { loop d3 by 16 { loop d1 { operand p:4.1 cols d3 in vec padded } } }
          loop d0 by 4 {
            cache most:1.0 rows d0 cols d1 in l1 { loop d1 by 16 { loop d2 { contract scores:0 rows d0 cols d1 in vec padded } } }
            place most:1 rows d0 cols d1 in l1
            cache p:4.0 rows d0 cols d1 in l1 { place exp:2 rows d0 cols d1 in l1 place sum:3 rows d0 cols d1 in l1 }
            loop d3 by 16 { loop d1 { contract p:4 rows d0 cols d3 in vec padded } }
          }
        }
        loop d0 by 4 { loop d3 by 16 { place out:5 rows d0 cols d3 in vec padded } }
      } }
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
      %x = arith.subf %b, %a : f32
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
func.func @smallest(%q: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %k: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %v: tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: %most is online, and %exp is not exp(x - m) of it}}
  %y = graph.fusion(%q, %k, %v : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {schedule = #schedule.tree<
    version {
      hoist p:4 out:5
      kernel { loop d0 by 8 grid {
        cache scores:0.0 cols d2 in l1 padded
        loop d1 by 32 online most:1 {
          cache scores:0.1 cols d1 in l1 padded { loop d1 by 16 { loop d2 { operand scores:0.1 cols d1 in vec padded } } }
          cache p:4.1 cols d3 in l1 padded { loop d3 by 16 { loop d1 { operand p:4.1 cols d3 in vec padded } } }
          loop d0 by 4 {
            cache most:1.0 rows d0 cols d1 in l1 { loop d1 by 16 { loop d2 { contract scores:0 rows d0 cols d1 in vec padded } } }
            place most:1 rows d0 cols d1 in l1
            cache p:4.0 rows d0 cols d1 in l1 { place exp:2 rows d0 cols d1 in l1 place sum:3 rows d0 cols d1 in l1 }
            loop d3 by 16 { loop d1 { contract p:4 rows d0 cols d3 in vec padded } }
          }
        }
        loop d0 by 4 { loop d3 by 16 { place out:5 rows d0 cols d3 in vec padded } }
      } }
    }
  >} {
  ^bb0(%i: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %j: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %l: tensor<?x16xf32, #dyn.shape<[K, 16]>>):
    %scores = graph.compute ins(%i, %j : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x?xf32, #dyn.shape<[Q, K]>> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#qd, #kd, #qk]} {
    ^bb0(%a: f32, %b: f32):
      %x = arith.mulf %a, %b : f32
      graph.yield %x : f32
    }
    %most = graph.compute ins(%scores : tensor<?x?xf32, #dyn.shape<[Q, K]>>) -> tensor<?xf32, #dyn.shape<[Q]>> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[min]>, maps = [#id, #row]} {
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
func.func @used_beside(%q: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %k: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %v: tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: %exp is relative to what is online, and used otherwise than in sums of the loop}}
  %y = graph.fusion(%q, %k, %v : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {schedule = #schedule.tree<
    version {

      kernel { loop d0 by 8 grid {
        cache scores:0.0 cols d2 in l1 padded
        loop d1 by 32 online most:1 {
          cache scores:0.1 cols d1 in l1 padded { loop d1 by 16 { loop d2 { operand scores:0.1 cols d1 in vec padded } } }
          cache p:4.1 cols d3 in l1 padded { loop d3 by 16 { loop d1 { operand p:4.1 cols d3 in vec padded } } }
          loop d0 by 4 {
            cache most:1.0 rows d0 cols d1 in l1 { loop d1 by 16 { loop d2 { contract scores:0 rows d0 cols d1 in vec padded } } }
            place most:1 rows d0 cols d1 in l1
            cache p:4.0 rows d0 cols d1 in l1 { place exp:2 rows d0 cols d1 in l1 place sum:3 rows d0 cols d1 in l1 }
            loop d3 by 16 { loop d1 { contract p:4 rows d0 cols d3 in vec padded } }
          }
        }
        loop d0 by 4 { loop d3 by 16 { place out:5 rows d0 cols d3 in vec padded } }
      } }
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
func.func @too_late(%q: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %k: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %v: tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: %exp reads %most, which is not made there, nor by an earlier launch}}
  %y = graph.fusion(%q, %k, %v : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {schedule = #schedule.tree<
    version {
      hoist p:4 out:5
      kernel { loop d0 by 8 grid {
        cache scores:0.0 cols d2 in l1 padded
        loop d1 by 32 online most:1 {
          cache scores:0.1 cols d1 in l1 padded { loop d1 by 16 { loop d2 { operand scores:0.1 cols d1 in vec padded } } }
          cache p:4.1 cols d3 in l1 padded { loop d3 by 16 { loop d1 { operand p:4.1 cols d3 in vec padded } } }
          loop d0 by 4 {
            cache most:1.0 rows d0 cols d1 in l1 { loop d1 by 16 { loop d2 { contract scores:0 rows d0 cols d1 in vec padded } } }

            cache p:4.0 rows d0 cols d1 in l1 { place exp:2 rows d0 cols d1 in l1 place sum:3 rows d0 cols d1 in l1 } place most:1 rows d0 cols d1 in l1
            loop d3 by 16 { loop d1 { contract p:4 rows d0 cols d3 in vec padded } }
          }
        }
        loop d0 by 4 { loop d3 by 16 { place out:5 rows d0 cols d3 in vec padded } }
      } }
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
func.func @inside_only(%q: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %k: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %v: tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: %p is summed relative to %most, which is not known there}}
  %y = graph.fusion(%q, %k, %v : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {schedule = #schedule.tree<
    version {
      hoist p:4 out:5
      kernel { loop d0 by 8 grid {
        cache scores:0.0 cols d2 in l1 padded
        loop d1 by 32 online most:1 {
          cache scores:0.1 cols d1 in l1 padded { loop d1 by 16 { loop d2 { operand scores:0.1 cols d1 in vec padded } } }
          cache p:4.1 cols d3 in l1 padded { loop d3 by 16 { loop d1 { operand p:4.1 cols d3 in vec padded } } }



            cache p:4.0 rows d0 cols d1 in l1 { loop d0 by 4 { cache most:1.0 rows d0 cols d1 in l1 { loop d1 by 16 { loop d2 { contract scores:0 rows d0 cols d1 in vec padded } } } place most:1 rows d0 cols d1 in l1 place exp:2 rows d0 cols d1 in l1 place sum:3 rows d0 cols d1 in l1 } } loop d0 by 4 { loop d3 by 16 { loop d1 { contract p:4 rows d0 cols d3 in vec padded } } }


        }
        loop d0 by 4 { loop d3 by 16 { place out:5 rows d0 cols d3 in vec padded } }
      } }
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
func.func @without(%q: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %k: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %v: tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: %exp reads %most, which is not made there, nor by an earlier launch}}
  %y = graph.fusion(%q, %k, %v : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {schedule = #schedule.tree<
    version {
      hoist p:4 out:5
      kernel { loop d0 by 8 grid {
        cache scores:0.0 cols d2 in l1 padded
        loop d1 by 32  {
          cache scores:0.1 cols d1 in l1 padded { loop d1 by 16 { loop d2 { operand scores:0.1 cols d1 in vec padded } } }
          cache p:4.1 cols d3 in l1 padded { loop d3 by 16 { loop d1 { operand p:4.1 cols d3 in vec padded } } }
          loop d0 by 4 {
            cache most:1.0 rows d0 cols d1 in l1 { loop d1 by 16 { loop d2 { contract scores:0 rows d0 cols d1 in vec padded } } }
            place most:1 rows d0 cols d1 in l1
            cache p:4.0 rows d0 cols d1 in l1 { place exp:2 rows d0 cols d1 in l1 place sum:3 rows d0 cols d1 in l1 }
            loop d3 by 16 { loop d1 { contract p:4 rows d0 cols d3 in vec padded } }
          }
        }
        loop d0 by 4 { loop d3 by 16 { place out:5 rows d0 cols d3 in vec padded } }
      } }
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
func.func @in_grid_parts(%q: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %k: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %v: tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: the loop over d1 has %most online, and a loop of the grid divides what %sum combines}}
  %y = graph.fusion(%q, %k, %v : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {schedule = #schedule.tree<
    version {
      hoist p:4 out:5
      kernel { loop d1 even 2 grid {
        loop d0 by 4 {
          loop d1 online most:1 { loop d2 { place scores:0 rows d0 } place most:1 rows d0 place exp:2 rows d0 place sum:3 rows d0 loop d3 { place p:4 rows d0 } }
        }
      } }
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
func.func @no_scale(%q: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %k: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %v: tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0: %p does not scale one number by what is the same for all that %out adds up}}
  %y = graph.fusion(%q, %k, %v : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {schedule = #schedule.tree<
    version {
      hoist p:4 out:5
      kernel { loop d0 by 8 grid {
        cache scores:0.0 cols d2 in l1 padded
        loop d1 by 32 online most:1 {
          cache scores:0.1 cols d1 in l1 padded { loop d1 by 16 { loop d2 { operand scores:0.1 cols d1 in vec padded } } }
          cache p:4.1 cols d3 in l1 padded { loop d3 by 16 { loop d1 { operand p:4.1 cols d3 in vec padded } } }
          loop d0 by 4 {
            cache most:1.0 rows d0 cols d1 in l1 { loop d1 by 16 { loop d2 { contract scores:0 rows d0 cols d1 in vec padded } } }
            place most:1 rows d0 cols d1 in l1
            cache p:4.0 rows d0 cols d1 in l1 { place exp:2 rows d0 cols d1 in l1 place sum:3 rows d0 cols d1 in l1 }
            loop d3 by 16 { loop d1 { contract p:4 rows d0 cols d3 in vec padded } }
          }
        }
        loop d0 by 4 { loop d3 by 16 { place out:5 rows d0 cols d3 in vec padded } }
      } }
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
      %x = arith.addf %a, %b : f32
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
func.func @not_behind(%q: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %k: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %v: tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0: stage 5 is hoisted out of stage 4, and the region has 6 stages}}
  %y = graph.fusion(%q, %k, %v : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {schedule = #schedule.tree<
    version {
      hoist out:5 p:4
      kernel { loop d0 by 8 grid {
        cache scores:0.0 cols d2 in l1 padded
        loop d1 by 32 online most:1 {
          cache scores:0.1 cols d1 in l1 padded { loop d1 by 16 { loop d2 { operand scores:0.1 cols d1 in vec padded } } }
          cache p:4.1 cols d3 in l1 padded { loop d3 by 16 { loop d1 { operand p:4.1 cols d3 in vec padded } } }
          loop d0 by 4 {
            cache most:1.0 rows d0 cols d1 in l1 { loop d1 by 16 { loop d2 { contract scores:0 rows d0 cols d1 in vec padded } } }
            place most:1 rows d0 cols d1 in l1
            cache p:4.0 rows d0 cols d1 in l1 { place exp:2 rows d0 cols d1 in l1 place sum:3 rows d0 cols d1 in l1 }
            loop d3 by 16 { loop d1 { contract p:4 rows d0 cols d3 in vec padded } }
          }
        }
        loop d0 by 4 { loop d3 by 16 { place out:5 rows d0 cols d3 in vec padded } }
      } }
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
func.func @no_pair(%q: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %k: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %v: tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0: %out does not read %exp once}}
  %y = graph.fusion(%q, %k, %v : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {schedule = #schedule.tree<
    version {
      hoist exp:2 out:5
      kernel { loop d0 by 8 grid {
        cache scores:0.0 cols d2 in l1 padded
        loop d1 by 32 online most:1 {
          cache scores:0.1 cols d1 in l1 padded { loop d1 by 16 { loop d2 { operand scores:0.1 cols d1 in vec padded } } }
          cache p:4.1 cols d3 in l1 padded { loop d3 by 16 { loop d1 { operand p:4.1 cols d3 in vec padded } } }
          loop d0 by 4 {
            cache most:1.0 rows d0 cols d1 in l1 { loop d1 by 16 { loop d2 { contract scores:0 rows d0 cols d1 in vec padded } } }
            place most:1 rows d0 cols d1 in l1
            cache p:4.0 rows d0 cols d1 in l1 { place exp:2 rows d0 cols d1 in l1 place sum:3 rows d0 cols d1 in l1 }
            loop d3 by 16 { loop d1 { contract p:4 rows d0 cols d3 in vec padded } }
          }
        }
        loop d0 by 4 { loop d3 by 16 { place out:5 rows d0 cols d3 in vec padded } }
      } }
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
func.func @several_readers(%q: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %k: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %v: tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0: %exp is used by more than %sum}}
  %y = graph.fusion(%q, %k, %v : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {schedule = #schedule.tree<
    version {
      hoist exp:2 sum:3
      kernel { loop d0 by 8 grid {
        cache scores:0.0 cols d2 in l1 padded
        loop d1 by 32 online most:1 {
          cache scores:0.1 cols d1 in l1 padded { loop d1 by 16 { loop d2 { operand scores:0.1 cols d1 in vec padded } } }
          cache p:4.1 cols d3 in l1 padded { loop d3 by 16 { loop d1 { operand p:4.1 cols d3 in vec padded } } }
          loop d0 by 4 {
            cache most:1.0 rows d0 cols d1 in l1 { loop d1 by 16 { loop d2 { contract scores:0 rows d0 cols d1 in vec padded } } }
            place most:1 rows d0 cols d1 in l1
            cache p:4.0 rows d0 cols d1 in l1 { place exp:2 rows d0 cols d1 in l1 place sum:3 rows d0 cols d1 in l1 }
            loop d3 by 16 { loop d1 { contract p:4 rows d0 cols d3 in vec padded } }
          }
        }
        loop d0 by 4 { loop d3 by 16 { place out:5 rows d0 cols d3 in vec padded } }
      } }
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
func.func @no_sum(%q: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %k: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %v: tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0: %exp and %p are not a stage and a sum of what it makes}}
  %y = graph.fusion(%q, %k, %v : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {schedule = #schedule.tree<
    version {
      hoist exp:2 p:4
      kernel { loop d0 by 8 grid {
        cache scores:0.0 cols d2 in l1 padded
        loop d1 by 32 online most:1 {
          cache scores:0.1 cols d1 in l1 padded { loop d1 by 16 { loop d2 { operand scores:0.1 cols d1 in vec padded } } }
          cache p:4.1 cols d3 in l1 padded { loop d3 by 16 { loop d1 { operand p:4.1 cols d3 in vec padded } } }
          loop d0 by 4 {
            cache most:1.0 rows d0 cols d1 in l1 { loop d1 by 16 { loop d2 { contract scores:0 rows d0 cols d1 in vec padded } } }
            place most:1 rows d0 cols d1 in l1
            cache p:4.0 rows d0 cols d1 in l1 { place exp:2 rows d0 cols d1 in l1 place sum:3 rows d0 cols d1 in l1 }
            loop d3 by 16 { loop d1 { contract p:4 rows d0 cols d3 in vec padded } }
          }
        }
        loop d0 by 4 { loop d3 by 16 { place out:5 rows d0 cols d3 in vec padded } }
      } }
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
func.func @no_stage(%q: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %k: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %v: tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0: stage 4 is hoisted out of stage 9, and the region has 6 stages}}
  %y = graph.fusion(%q, %k, %v : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {schedule = #schedule.tree<
    version {
      hoist p:4 out:9
      kernel { loop d0 by 8 grid {
        cache scores:0.0 cols d2 in l1 padded
        loop d1 by 32 online most:1 {
          cache scores:0.1 cols d1 in l1 padded { loop d1 by 16 { loop d2 { operand scores:0.1 cols d1 in vec padded } } }
          cache p:4.1 cols d3 in l1 padded { loop d3 by 16 { loop d1 { operand p:4.1 cols d3 in vec padded } } }
          loop d0 by 4 {
            cache most:1.0 rows d0 cols d1 in l1 { loop d1 by 16 { loop d2 { contract scores:0 rows d0 cols d1 in vec padded } } }
            place most:1 rows d0 cols d1 in l1
            cache p:4.0 rows d0 cols d1 in l1 { place exp:2 rows d0 cols d1 in l1 place sum:3 rows d0 cols d1 in l1 }
            loop d3 by 16 { loop d1 { contract p:4 rows d0 cols d3 in vec padded } }
          }
        }
        loop d0 by 4 { loop d3 by 16 { place out:5 rows d0 cols d3 in vec padded } }
      } }
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
func.func @no_panel(%q: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %k: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %v: tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: the body of operand 1 of %scores is not loops, one in the other, that copy it tile by tile}}
  %y = graph.fusion(%q, %k, %v : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {schedule = #schedule.tree<
    version {
      hoist p:4 out:5
      kernel { loop d0 by 8 grid {
        cache scores:0.0 cols d2 in l1 padded
        loop d1 by 32 online most:1 {
          cache scores:0.1 cols d1 in l1 padded { loop d1 by 16 { loop d2 { operand scores:0.0 cols d1 in vec padded } } }
          cache p:4.1 cols d3 in l1 padded { loop d3 by 16 { loop d1 { operand p:4.1 cols d3 in vec padded } } }
          loop d0 by 4 {
            cache most:1.0 rows d0 cols d1 in l1 { loop d1 by 16 { loop d2 { contract scores:0 rows d0 cols d1 in vec padded } } }
            place most:1 rows d0 cols d1 in l1
            cache p:4.0 rows d0 cols d1 in l1 { place exp:2 rows d0 cols d1 in l1 place sum:3 rows d0 cols d1 in l1 }
            loop d3 by 16 { loop d1 { contract p:4 rows d0 cols d3 in vec padded } }
          }
        }
        loop d0 by 4 { loop d3 by 16 { place out:5 rows d0 cols d3 in vec padded } }
      } }
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
func.func @copied_twice(%q: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %k: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %v: tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: operand 1 of %scores is copied in two loops over d1}}
  %y = graph.fusion(%q, %k, %v : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {schedule = #schedule.tree<
    version {
      hoist p:4 out:5
      kernel { loop d0 by 8 grid {
        cache scores:0.0 cols d2 in l1 padded
        loop d1 by 32 online most:1 {
          cache scores:0.1 cols d1 in l1 padded { loop d1 by 32 { loop d1 by 16 { loop d2 { operand scores:0.1 cols d1 in vec padded } } } }
          cache p:4.1 cols d3 in l1 padded { loop d3 by 16 { loop d1 { operand p:4.1 cols d3 in vec padded } } }
          loop d0 by 4 {
            cache most:1.0 rows d0 cols d1 in l1 { loop d1 by 16 { loop d2 { contract scores:0 rows d0 cols d1 in vec padded } } }
            place most:1 rows d0 cols d1 in l1
            cache p:4.0 rows d0 cols d1 in l1 { place exp:2 rows d0 cols d1 in l1 place sum:3 rows d0 cols d1 in l1 }
            loop d3 by 16 { loop d1 { contract p:4 rows d0 cols d3 in vec padded } }
          }
        }
        loop d0 by 4 { loop d3 by 16 { place out:5 rows d0 cols d3 in vec padded } }
      } }
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
func.func @several_at_once(%q: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %k: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %v: tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: operand 1 of %scores is copied in a loop that has more than one index of d2}}
  %y = graph.fusion(%q, %k, %v : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {schedule = #schedule.tree<
    version {
      hoist p:4 out:5
      kernel { loop d0 by 8 grid {
        cache scores:0.0 cols d2 in l1 padded
        loop d1 by 32 online most:1 {
          cache scores:0.1 cols d1 in l1 padded { loop d1 by 16 { loop d2 by 4 { operand scores:0.1 cols d1 in vec padded } } }
          cache p:4.1 cols d3 in l1 padded { loop d3 by 16 { loop d1 { operand p:4.1 cols d3 in vec padded } } }
          loop d0 by 4 {
            cache most:1.0 rows d0 cols d1 in l1 { loop d1 by 16 { loop d2 { contract scores:0 rows d0 cols d1 in vec padded } } }
            place most:1 rows d0 cols d1 in l1
            cache p:4.0 rows d0 cols d1 in l1 { place exp:2 rows d0 cols d1 in l1 place sum:3 rows d0 cols d1 in l1 }
            loop d3 by 16 { loop d1 { contract p:4 rows d0 cols d3 in vec padded } }
          }
        }
        loop d0 by 4 { loop d3 by 16 { place out:5 rows d0 cols d3 in vec padded } }
      } }
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
func.func @in_columns(%q: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %k: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %v: tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: operand 1 of %scores is copied on a tile that has rows along no loop of its own, lies not in registers or is not padded}}
  %y = graph.fusion(%q, %k, %v : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {schedule = #schedule.tree<
    version {
      hoist p:4 out:5
      kernel { loop d0 by 8 grid {
        cache scores:0.0 cols d2 in l1 padded
        loop d1 by 32 online most:1 {
          cache scores:0.1 cols d1 in l1 padded { loop d1 by 16 { loop d2 { operand scores:0.1 cols d1 in l1 padded } } }
          cache p:4.1 cols d3 in l1 padded { loop d3 by 16 { loop d1 { operand p:4.1 cols d3 in vec padded } } }
          loop d0 by 4 {
            cache most:1.0 rows d0 cols d1 in l1 { loop d1 by 16 { loop d2 { contract scores:0 rows d0 cols d1 in vec padded } } }
            place most:1 rows d0 cols d1 in l1
            cache p:4.0 rows d0 cols d1 in l1 { place exp:2 rows d0 cols d1 in l1 place sum:3 rows d0 cols d1 in l1 }
            loop d3 by 16 { loop d1 { contract p:4 rows d0 cols d3 in vec padded } }
          }
        }
        loop d0 by 4 { loop d3 by 16 { place out:5 rows d0 cols d3 in vec padded } }
      } }
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
func.func @other_panels(%q: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %k: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %v: tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: input 1 of %scores was packed in other columns than it is read in}}
  %y = graph.fusion(%q, %k, %v : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {schedule = #schedule.tree<
    version {
      hoist p:4 out:5
      kernel { loop d0 by 8 grid {
        cache scores:0.0 cols d2 in l1 padded
        loop d1 by 32 online most:1 {
          cache scores:0.1 cols d1 in l1 padded { loop d1 by 8 { loop d2 { operand scores:0.1 cols d1 in vec padded } } }
          cache p:4.1 cols d3 in l1 padded { loop d3 by 16 { loop d1 { operand p:4.1 cols d3 in vec padded } } }
          loop d0 by 4 {
            cache most:1.0 rows d0 cols d1 in l1 { loop d1 by 16 { loop d2 { contract scores:0 rows d0 cols d1 in vec padded } } }
            place most:1 rows d0 cols d1 in l1
            cache p:4.0 rows d0 cols d1 in l1 { place exp:2 rows d0 cols d1 in l1 place sum:3 rows d0 cols d1 in l1 }
            loop d3 by 16 { loop d1 { contract p:4 rows d0 cols d3 in vec padded } }
          }
        }
        loop d0 by 4 { loop d3 by 16 { place out:5 rows d0 cols d3 in vec padded } }
      } }
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
func.func @twice_near(%q: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %k: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %v: tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: operand 1 of %scores is kept near where it is already}}
  %y = graph.fusion(%q, %k, %v : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {schedule = #schedule.tree<
    version {
      hoist p:4 out:5
      kernel { loop d0 by 8 grid {
        cache scores:0.0 cols d2 in l1 padded
        loop d1 by 32 online most:1 {
          cache scores:0.1 cols d1 in l1 padded { loop d1 by 16 { loop d2 { operand scores:0.1 cols d1 in vec padded } } } cache scores:0.1 cols d1 in l1 padded { loop d1 by 16 { loop d2 { operand scores:0.1 cols d1 in vec padded } } }
          cache p:4.1 cols d3 in l1 padded { loop d3 by 16 { loop d1 { operand p:4.1 cols d3 in vec padded } } }
          loop d0 by 4 {
            cache most:1.0 rows d0 cols d1 in l1 { loop d1 by 16 { loop d2 { contract scores:0 rows d0 cols d1 in vec padded } } }
            place most:1 rows d0 cols d1 in l1
            cache p:4.0 rows d0 cols d1 in l1 { place exp:2 rows d0 cols d1 in l1 place sum:3 rows d0 cols d1 in l1 }
            loop d3 by 16 { loop d1 { contract p:4 rows d0 cols d3 in vec padded } }
          }
        }
        loop d0 by 4 { loop d3 by 16 { place out:5 rows d0 cols d3 in vec padded } }
      } }
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
func.func @two_spaces(%q: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %k: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %v: tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: %exp reads %scores on a tile of another space or padding than that on which it was made}}
  %y = graph.fusion(%q, %k, %v : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {schedule = #schedule.tree<
    version {
      hoist p:4 out:5
      kernel { loop d0 by 8 grid {
        cache scores:0.0 cols d2 in l1 padded
        loop d1 by 32 online most:1 {
          cache scores:0.1 cols d1 in l1 padded { loop d1 by 16 { loop d2 { operand scores:0.1 cols d1 in vec padded } } }
          cache p:4.1 cols d3 in l1 padded { loop d3 by 16 { loop d1 { operand p:4.1 cols d3 in vec padded } } }
          loop d0 by 4 {
            cache most:1.0 rows d0 cols d1 in l1 { loop d1 by 16 { loop d2 { contract scores:0 rows d0 cols d1 in vec padded } } }
            place most:1 rows d0 cols d1 in l1
            cache p:4.0 rows d0 cols d1 in l1 { place exp:2 rows d0 cols d1 in vec padded place sum:3 rows d0 cols d1 in l1 }
            loop d3 by 16 { loop d1 { contract p:4 rows d0 cols d3 in vec padded } }
          }
        }
        loop d0 by 4 { loop d3 by 16 { place out:5 rows d0 cols d3 in vec padded } }
      } }
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
func.func @rows_summed(%q: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %k: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %v: tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: %most is combined along d1, the rows of its tile}}
  %y = graph.fusion(%q, %k, %v : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {schedule = #schedule.tree<
    version {

      kernel { loop d3 by 16 grid {

        loop d1 by 32  {


          loop d0 by 4 {

            place most:1 rows d1 cols d0 in vec


          }
        }

      } }
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
