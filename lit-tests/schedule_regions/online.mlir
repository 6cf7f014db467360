// Extremes that a loop uses before they are complete, sums kept near from tile to tile, and panels near.
// RUN: sutura-opt %s --convert-graph-to-gir --check-passes --remarks --split-input-file -o %t.out 2> %t.said
// RUN: FileCheck %s --input-file=%t.out
// RUN: FileCheck %s --input-file=%t.said --check-prefix=SAID
// SAID-COUNT-3: 1 functions compared

// The softmax of all keys at once: a row of weights is made where its scores were.
// CHECK-LABEL: gir.kernel @resident_kernel0(
// CHECK-COUNT-4: gir.alloc
// CHECK-NOT: gir.alloc
// CHECK: gir.contract
// CHECK: gir.reduce "max" "cols"
// CHECK: gir.contract
#qd = affine_map<(q, k, d) -> (q, d)>
#kd = affine_map<(q, k, d) -> (k, d)>
#qk = affine_map<(q, k, d) -> (q, k)>
#pk = affine_map<(q, v, k) -> (q, k)>
#kv = affine_map<(q, v, k) -> (k, v)>
#qv = affine_map<(q, v, k) -> (q, v)>
#id = affine_map<(q, k) -> (q, k)>
#row = affine_map<(q, k) -> (q)>
func.func @resident(%q: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %k: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %v: tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  %y = graph.fusion(%q, %k, %v : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {schedule = #schedule.tree<
    version when [-K + 96] {
      kernel { loop d0 by 4 grid {
        cache scores:0.1 cols d1 in l1 padded { loop d1 by 16 { loop d2 { operand scores:0.1 cols d1 in vec padded } } }
        cache out:5.1 cols d3 in l1 padded { loop d3 by 16 { loop d1 { operand out:5.1 cols d3 in vec padded } } }
        cache scores:0.0 cols d2 in l1 padded
        cache out:5.0 rows d0 cols d1 in l1 {
          cache most:1.0 rows d0 cols d1 in l1 { loop d1 by 16 { loop d2 { contract scores:0 rows d0 cols d1 in vec padded } } }
          place most:1 rows d0 cols d1 in l1
          place exp:2 rows d0 cols d1 in l1
          place sum:3 rows d0 cols d1 in l1
          place p:4 rows d0 cols d1 in l1
        }
        loop d3 by 16 { loop d1 { contract out:5 rows d0 cols d3 in vec padded } }
      } }
    }
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

// Keys in blocks, for one tile of queries: what is summed so far is carried.
// CHECK-LABEL: gir.kernel @one_tile_kernel0(
// CHECK: gir.for {{.*}} carry(
#qd = affine_map<(q, k, d) -> (q, d)>
#kd = affine_map<(q, k, d) -> (k, d)>
#qk = affine_map<(q, k, d) -> (q, k)>
#pk = affine_map<(q, v, k) -> (q, k)>
#kv = affine_map<(q, v, k) -> (k, v)>
#qv = affine_map<(q, v, k) -> (q, v)>
#id = affine_map<(q, k) -> (q, k)>
#row = affine_map<(q, k) -> (q)>
func.func @one_tile(%q: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %k: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %v: tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  %y = graph.fusion(%q, %k, %v : tensor<?x16xf32, #dyn.shape<[Q, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>, tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {schedule = #schedule.tree<
    version {
      hoist p:4 out:5
      kernel { loop d0 by 4 grid {
        cache scores:0.0 cols d2 in l1 padded
        loop d1 by 32 online most:1 {
          cache scores:0.1 cols d1 in l1 padded { loop d1 by 16 { loop d2 { operand scores:0.1 cols d1 in vec padded } } }
          cache p:4.1 cols d3 in l1 padded { loop d3 by 16 { loop d1 { operand p:4.1 cols d3 in vec padded } } }

            cache most:1.0 rows d0 cols d1 in l1 { loop d1 by 16 { loop d2 { contract scores:0 rows d0 cols d1 in vec padded } } }
            place most:1 rows d0 cols d1 in l1
            cache p:4.0 rows d0 cols d1 in l1 { place exp:2 rows d0 cols d1 in l1 place sum:3 rows d0 cols d1 in l1 }
            loop d3 by 16 { loop d1 { contract p:4 rows d0 cols d3 in vec padded } }

        }
        loop d3 by 16 { place out:5 rows d0 cols d3 in vec padded }
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

// Powers of two, of the smallest number, keys one after the other.
// CHECK-LABEL: gir.kernel @powers_of_two_kernel0(
// CHECK: gir.binary "min"
// CHECK: gir.unary "exp2"
#qd = affine_map<(q, k, d) -> (q, d)>
#kd = affine_map<(q, k, d) -> (k, d)>
#qk = affine_map<(q, k, d) -> (q, k)>
#pk = affine_map<(q, v, k) -> (q, k)>
#kv = affine_map<(q, v, k) -> (k, v)>
#qv = affine_map<(q, v, k) -> (q, v)>
#id = affine_map<(q, k) -> (q, k)>
#row = affine_map<(q, k) -> (q)>
func.func @powers_of_two(%q: tensor<?x16xf32, #dyn.shape<[Q, 16]>>, %k: tensor<?x16xf32, #dyn.shape<[K, 16]>>, %v: tensor<?x16xf32, #dyn.shape<[K, 16]>>) -> tensor<?x16xf32, #dyn.shape<[Q, 16]>> {
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
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
      %x = arith.subf %b, %a : f32
      %z = math.exp2 %x : f32
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
