// reach: a loop that has an extreme online leaves out the tiles in which a choice hides everything.

// RUN: sutura-opt %s --split-input-file --convert-graph-to-gir --verify-diagnostics | FileCheck %s
// RUN: not sutura-opt %s --split-input-file --convert-graph-to-gir --check-passes --remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=SAME

// SAME: 1 functions compared

#qd = affine_map<(q, k, d) -> (q, d)>
#kd = affine_map<(q, k, d) -> (k, d)>
#qk = affine_map<(q, k, d) -> (q, k)>
#pk = affine_map<(q, v, k) -> (q, k)>
#kv = affine_map<(q, v, k) -> (k, v)>
#qv = affine_map<(q, v, k) -> (q, v)>
#id = affine_map<(q, k) -> (q, k)>
#row = affine_map<(q, k) -> (q)>

// The least beginning and the greatest end of the rows of a tile, held between 0 and the number of keys, if all values are finite.
// CHECK-DAG: #[[FIRST:.*]] = affine_map<(d0) -> (d0 floordiv 32)>
// CHECK-DAG: #[[BEHIND:.*]] = affine_map<(d0)[s0] -> (s0, d0 ceildiv 32)>
// CHECK-LABEL: gir.kernel @window_kernel0(
// CHECK: %[[FINITE:.*]] = gir.compare "oeq"
// CHECK: gir.reduce "minsi" "rows"
// CHECK: gir.ternary "select" %[[FINITE]],
// CHECK: %[[LEAST:.*]] = gir.pick "what a choice shows"
// CHECK: %[[LO:.*]] = gir.index #[[FIRST]](%[[LEAST]])
// CHECK: gir.reduce "maxsi" "rows"
// CHECK: %[[MOST:.*]] = gir.pick "what a choice shows"
// CHECK: %[[HI:.*]] = gir.index #[[BEHIND]](%[[MOST]], %c3)
// CHECK: gir.for %{{.*}} = %[[LO]] to %[[HI]] carry
func.func @window(%q: tensor<22x16xf32>, %k: tensor<96x16xf32>, %v: tensor<96x16xf32>, %a: tensor<22xi32>, %b: tensor<22xi64>) -> tensor<22x16xf32> {
  %y = graph.fusion(%q, %k, %v, %a, %b : tensor<22x16xf32>, tensor<96x16xf32>, tensor<96x16xf32>, tensor<22xi32>, tensor<22xi64>) -> tensor<22x16xf32> {schedule = #schedule.tree<
    version {
      hoist p:5 out:6
      kernel { loop d0 by 4 grid {
        cache scores:0.1 cols d1 in l1 padded { loop d1 by 16 { loop d2 { operand scores:0.1 cols d1 in vec padded } } }
        cache p:5.1 cols d3 in l1 padded { loop d3 by 16 { loop d1 { operand p:5.1 cols d3 in vec padded } } }
        cache scores:0.0 cols d2 in l1 padded
        loop d1 by 32 online most:2 reach {
          cache most:2.0 rows d0 cols d1 in l1 { loop d1 by 16 {
            loop d2 { contract scores:0 rows d0 cols d1 in vec padded }
            place chosen:1 rows d0 cols d1 in vec padded
          } }
          place most:2 rows d0 cols d1 in l1
          cache p:5.0 rows d0 cols d1 in l1 { place exp:3 rows d0 cols d1 in l1 place sum:4 rows d0 cols d1 in l1 }
          loop d3 by 16 { loop d1 { contract p:5 rows d0 cols d3 in vec padded } }
        }
        loop d3 by 16 { place out:6 rows d0 cols d3 in vec padded }
      } }
    }
  >} {
  ^bb0(%i: tensor<22x16xf32>, %j: tensor<96x16xf32>, %l: tensor<96x16xf32>, %m: tensor<22xi32>, %n: tensor<22xi64>):
    %scores = graph.compute ins(%i, %j : tensor<22x16xf32>, tensor<96x16xf32>) -> tensor<22x96xf32> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#qd, #kd, #qk]} {
    ^bb0(%a0: f32, %b0: f32):
      %x = arith.mulf %a0, %b0 : f32
      graph.yield %x : f32
    }
    %chosen = graph.compute ins(%scores, %m, %n : tensor<22x96xf32>, tensor<22xi32>, tensor<22xi64>) -> tensor<22x96xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #row, #id]} {
    ^bb0(%s: f32, %first: i32, %last: i64):
      %key = graph.index 1 : index
      %k32 = arith.index_cast %key : index to i32
      %k64 = arith.index_cast %key : index to i64
      %before = arith.cmpi sgt, %first, %k32 : i32
      %after = arith.cmpi sgt, %k64, %last : i64
      %hidden = arith.ori %before, %after : i1
      %least = arith.constant 0xFF800000 : f32
      %r = arith.select %hidden, %least, %s : f32
      graph.yield %r : f32
    }
    %most = graph.compute ins(%chosen : tensor<22x96xf32>) -> tensor<22xf32> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #row]} {
    ^bb0(%e: f32):
      graph.yield %e : f32
    }
    %exp = graph.compute ins(%chosen, %most : tensor<22x96xf32>, tensor<22xf32>) -> tensor<22x96xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%e: f32, %o: f32):
      %x = arith.subf %e, %o : f32
      %z = math.exp %x : f32
      graph.yield %z : f32
    }
    %sum = graph.compute ins(%exp : tensor<22x96xf32>) -> tensor<22xf32> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #row]} {
    ^bb0(%e: f32):
      graph.yield %e : f32
    }
    %p = graph.compute ins(%exp, %sum : tensor<22x96xf32>, tensor<22xf32>) -> tensor<22x96xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%e: f32, %o: f32):
      %x = arith.divf %e, %o : f32
      graph.yield %x : f32
    }
    %out = graph.compute ins(%p, %l : tensor<22x96xf32>, tensor<96x16xf32>) -> tensor<22x16xf32> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#pk, #kv, #qv]} {
    ^bb0(%e: f32, %o: f32):
      %x = arith.mulf %e, %o : f32
      graph.yield %x : f32
    }
    graph.yield %out : tensor<22x16xf32>
  }
  return %y : tensor<22x16xf32>
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

// Values that are packed block by block were not looked at as a whole.
func.func @unpacked(%q: tensor<22x16xf32>, %k: tensor<96x16xf32>, %v: tensor<96x16xf32>, %a: tensor<22xi32>, %b: tensor<22xi64>) -> tensor<22x16xf32> {
  // expected-error @below {{%l, which is multiplied by zeros, was not packed near before it, so that it may be infinite}}
  %y = graph.fusion(%q, %k, %v, %a, %b : tensor<22x16xf32>, tensor<96x16xf32>, tensor<96x16xf32>, tensor<22xi32>, tensor<22xi64>) -> tensor<22x16xf32> {schedule = #schedule.tree<
    version {
      hoist p:5 out:6
      kernel { loop d0 by 4 grid {
        cache scores:0.1 cols d1 in l1 padded { loop d1 by 16 { loop d2 { operand scores:0.1 cols d1 in vec padded } } }
        cache scores:0.0 cols d2 in l1 padded
        loop d1 by 32 online most:2 reach {
          cache p:5.1 cols d3 in l1 padded { loop d3 by 16 { loop d1 { operand p:5.1 cols d3 in vec padded } } }
          cache most:2.0 rows d0 cols d1 in l1 { loop d1 by 16 {
            loop d2 { contract scores:0 rows d0 cols d1 in vec padded }
            place chosen:1 rows d0 cols d1 in vec padded
          } }
          place most:2 rows d0 cols d1 in l1
          cache p:5.0 rows d0 cols d1 in l1 { place exp:3 rows d0 cols d1 in l1 place sum:4 rows d0 cols d1 in l1 }
          loop d3 by 16 { loop d1 { contract p:5 rows d0 cols d3 in vec padded } }
        }
        loop d3 by 16 { place out:6 rows d0 cols d3 in vec padded }
      } }
    }
  >} {
  ^bb0(%i: tensor<22x16xf32>, %j: tensor<96x16xf32>, %l: tensor<96x16xf32>, %m: tensor<22xi32>, %n: tensor<22xi64>):
    %scores = graph.compute ins(%i, %j : tensor<22x16xf32>, tensor<96x16xf32>) -> tensor<22x96xf32> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#qd, #kd, #qk]} {
    ^bb0(%a0: f32, %b0: f32):
      %x = arith.mulf %a0, %b0 : f32
      graph.yield %x : f32
    }
    %chosen = graph.compute ins(%scores, %m, %n : tensor<22x96xf32>, tensor<22xi32>, tensor<22xi64>) -> tensor<22x96xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #row, #id]} {
    ^bb0(%s: f32, %first: i32, %last: i64):
      %key = graph.index 1 : index
      %k32 = arith.index_cast %key : index to i32
      %k64 = arith.index_cast %key : index to i64
      %before = arith.cmpi sgt, %first, %k32 : i32
      %after = arith.cmpi sgt, %k64, %last : i64
      %hidden = arith.ori %before, %after : i1
      %least = arith.constant 0xFF800000 : f32
      %r = arith.select %hidden, %least, %s : f32
      graph.yield %r : f32
    }
    %most = graph.compute ins(%chosen : tensor<22x96xf32>) -> tensor<22xf32> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #row]} {
    ^bb0(%e: f32):
      graph.yield %e : f32
    }
    %exp = graph.compute ins(%chosen, %most : tensor<22x96xf32>, tensor<22xf32>) -> tensor<22x96xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%e: f32, %o: f32):
      %x = arith.subf %e, %o : f32
      %z = math.exp %x : f32
      graph.yield %z : f32
    }
    %sum = graph.compute ins(%exp : tensor<22x96xf32>) -> tensor<22xf32> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #row]} {
    ^bb0(%e: f32):
      graph.yield %e : f32
    }
    %p = graph.compute ins(%exp, %sum : tensor<22x96xf32>, tensor<22xf32>) -> tensor<22x96xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%e: f32, %o: f32):
      %x = arith.divf %e, %o : f32
      graph.yield %x : f32
    }
    %out = graph.compute ins(%p, %l : tensor<22x96xf32>, tensor<96x16xf32>) -> tensor<22x16xf32> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#pk, #kv, #qv]} {
    ^bb0(%e: f32, %o: f32):
      %x = arith.mulf %e, %o : f32
      graph.yield %x : f32
    }
    graph.yield %out : tensor<22x16xf32>
  }
  return %y : tensor<22x16xf32>
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

// No range of keys is where they are equal to a number.
func.func @equal(%q: tensor<22x16xf32>, %k: tensor<96x16xf32>, %v: tensor<96x16xf32>, %a: tensor<22xi32>, %b: tensor<22xi64>) -> tensor<22x16xf32> {
  // expected-error @below {{the loop over d1 leaves out what is hidden, and what the extreme is taken of is no choice by comparisons of an index with numbers of a row}}
  %y = graph.fusion(%q, %k, %v, %a, %b : tensor<22x16xf32>, tensor<96x16xf32>, tensor<96x16xf32>, tensor<22xi32>, tensor<22xi64>) -> tensor<22x16xf32> {schedule = #schedule.tree<
    version {
      hoist p:5 out:6
      kernel { loop d0 by 4 grid {
        cache scores:0.1 cols d1 in l1 padded { loop d1 by 16 { loop d2 { operand scores:0.1 cols d1 in vec padded } } }
        cache p:5.1 cols d3 in l1 padded { loop d3 by 16 { loop d1 { operand p:5.1 cols d3 in vec padded } } }
        cache scores:0.0 cols d2 in l1 padded
        loop d1 by 32 online most:2 reach {
          cache most:2.0 rows d0 cols d1 in l1 { loop d1 by 16 {
            loop d2 { contract scores:0 rows d0 cols d1 in vec padded }
            place chosen:1 rows d0 cols d1 in vec padded
          } }
          place most:2 rows d0 cols d1 in l1
          cache p:5.0 rows d0 cols d1 in l1 { place exp:3 rows d0 cols d1 in l1 place sum:4 rows d0 cols d1 in l1 }
          loop d3 by 16 { loop d1 { contract p:5 rows d0 cols d3 in vec padded } }
        }
        loop d3 by 16 { place out:6 rows d0 cols d3 in vec padded }
      } }
    }
  >} {
  ^bb0(%i: tensor<22x16xf32>, %j: tensor<96x16xf32>, %l: tensor<96x16xf32>, %m: tensor<22xi32>, %n: tensor<22xi64>):
    %scores = graph.compute ins(%i, %j : tensor<22x16xf32>, tensor<96x16xf32>) -> tensor<22x96xf32> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#qd, #kd, #qk]} {
    ^bb0(%a0: f32, %b0: f32):
      %x = arith.mulf %a0, %b0 : f32
      graph.yield %x : f32
    }
    %chosen = graph.compute ins(%scores, %m, %n : tensor<22x96xf32>, tensor<22xi32>, tensor<22xi64>) -> tensor<22x96xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #row, #id]} {
    ^bb0(%s: f32, %first: i32, %last: i64):
      %key = graph.index 1 : index
      %k32 = arith.index_cast %key : index to i32
      %k64 = arith.index_cast %key : index to i64
      %before = arith.cmpi eq, %first, %k32 : i32
      %after = arith.cmpi sgt, %k64, %last : i64
      %hidden = arith.ori %before, %after : i1
      %least = arith.constant 0xFF800000 : f32
      %r = arith.select %hidden, %least, %s : f32
      graph.yield %r : f32
    }
    %most = graph.compute ins(%chosen : tensor<22x96xf32>) -> tensor<22xf32> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #row]} {
    ^bb0(%e: f32):
      graph.yield %e : f32
    }
    %exp = graph.compute ins(%chosen, %most : tensor<22x96xf32>, tensor<22xf32>) -> tensor<22x96xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%e: f32, %o: f32):
      %x = arith.subf %e, %o : f32
      %z = math.exp %x : f32
      graph.yield %z : f32
    }
    %sum = graph.compute ins(%exp : tensor<22x96xf32>) -> tensor<22xf32> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #row]} {
    ^bb0(%e: f32):
      graph.yield %e : f32
    }
    %p = graph.compute ins(%exp, %sum : tensor<22x96xf32>, tensor<22xf32>) -> tensor<22x96xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%e: f32, %o: f32):
      %x = arith.divf %e, %o : f32
      graph.yield %x : f32
    }
    %out = graph.compute ins(%p, %l : tensor<22x96xf32>, tensor<96x16xf32>) -> tensor<22x16xf32> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#pk, #kv, #qv]} {
    ^bb0(%e: f32, %o: f32):
      %x = arith.mulf %e, %o : f32
      graph.yield %x : f32
    }
    graph.yield %out : tensor<22x16xf32>
  }
  return %y : tensor<22x16xf32>
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

// What is hidden is another number than -inf, and counts.
func.func @other(%q: tensor<22x16xf32>, %k: tensor<96x16xf32>, %v: tensor<96x16xf32>, %a: tensor<22xi32>, %b: tensor<22xi64>) -> tensor<22x16xf32> {
  // expected-error @below {{the loop over d1 leaves out what is hidden, and what the extreme is taken of is no choice by comparisons of an index with numbers of a row}}
  %y = graph.fusion(%q, %k, %v, %a, %b : tensor<22x16xf32>, tensor<96x16xf32>, tensor<96x16xf32>, tensor<22xi32>, tensor<22xi64>) -> tensor<22x16xf32> {schedule = #schedule.tree<
    version {
      hoist p:5 out:6
      kernel { loop d0 by 4 grid {
        cache scores:0.1 cols d1 in l1 padded { loop d1 by 16 { loop d2 { operand scores:0.1 cols d1 in vec padded } } }
        cache p:5.1 cols d3 in l1 padded { loop d3 by 16 { loop d1 { operand p:5.1 cols d3 in vec padded } } }
        cache scores:0.0 cols d2 in l1 padded
        loop d1 by 32 online most:2 reach {
          cache most:2.0 rows d0 cols d1 in l1 { loop d1 by 16 {
            loop d2 { contract scores:0 rows d0 cols d1 in vec padded }
            place chosen:1 rows d0 cols d1 in vec padded
          } }
          place most:2 rows d0 cols d1 in l1
          cache p:5.0 rows d0 cols d1 in l1 { place exp:3 rows d0 cols d1 in l1 place sum:4 rows d0 cols d1 in l1 }
          loop d3 by 16 { loop d1 { contract p:5 rows d0 cols d3 in vec padded } }
        }
        loop d3 by 16 { place out:6 rows d0 cols d3 in vec padded }
      } }
    }
  >} {
  ^bb0(%i: tensor<22x16xf32>, %j: tensor<96x16xf32>, %l: tensor<96x16xf32>, %m: tensor<22xi32>, %n: tensor<22xi64>):
    %scores = graph.compute ins(%i, %j : tensor<22x16xf32>, tensor<96x16xf32>) -> tensor<22x96xf32> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#qd, #kd, #qk]} {
    ^bb0(%a0: f32, %b0: f32):
      %x = arith.mulf %a0, %b0 : f32
      graph.yield %x : f32
    }
    %chosen = graph.compute ins(%scores, %m, %n : tensor<22x96xf32>, tensor<22xi32>, tensor<22xi64>) -> tensor<22x96xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #row, #id]} {
    ^bb0(%s: f32, %first: i32, %last: i64):
      %key = graph.index 1 : index
      %k32 = arith.index_cast %key : index to i32
      %k64 = arith.index_cast %key : index to i64
      %before = arith.cmpi sgt, %first, %k32 : i32
      %after = arith.cmpi sgt, %k64, %last : i64
      %hidden = arith.ori %before, %after : i1
      %least = arith.constant -1.0e+4 : f32
      %r = arith.select %hidden, %least, %s : f32
      graph.yield %r : f32
    }
    %most = graph.compute ins(%chosen : tensor<22x96xf32>) -> tensor<22xf32> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #row]} {
    ^bb0(%e: f32):
      graph.yield %e : f32
    }
    %exp = graph.compute ins(%chosen, %most : tensor<22x96xf32>, tensor<22xf32>) -> tensor<22x96xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%e: f32, %o: f32):
      %x = arith.subf %e, %o : f32
      %z = math.exp %x : f32
      graph.yield %z : f32
    }
    %sum = graph.compute ins(%exp : tensor<22x96xf32>) -> tensor<22xf32> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #row]} {
    ^bb0(%e: f32):
      graph.yield %e : f32
    }
    %p = graph.compute ins(%exp, %sum : tensor<22x96xf32>, tensor<22xf32>) -> tensor<22x96xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%e: f32, %o: f32):
      %x = arith.divf %e, %o : f32
      graph.yield %x : f32
    }
    %out = graph.compute ins(%p, %l : tensor<22x96xf32>, tensor<96x16xf32>) -> tensor<22x16xf32> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#pk, #kv, #qv]} {
    ^bb0(%e: f32, %o: f32):
      %x = arith.mulf %e, %o : f32
      graph.yield %x : f32
    }
    graph.yield %out : tensor<22x16xf32>
  }
  return %y : tensor<22x16xf32>
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

// The ends of more than a tile of queries.
func.func @several(%q: tensor<22x16xf32>, %k: tensor<96x16xf32>, %v: tensor<96x16xf32>, %a: tensor<22xi32>, %b: tensor<22xi64>) -> tensor<22x16xf32> {
  // expected-error @below {{the loop over d1 leaves out what is hidden, and what says where it ends differs along more than the rows of a tile}}
  %y = graph.fusion(%q, %k, %v, %a, %b : tensor<22x16xf32>, tensor<96x16xf32>, tensor<96x16xf32>, tensor<22xi32>, tensor<22xi64>) -> tensor<22x16xf32> {schedule = #schedule.tree<
    version {
      hoist p:5 out:6
      kernel { loop d3 by 16 grid {
        cache scores:0.1 cols d1 in l1 padded { loop d1 by 16 { loop d2 { operand scores:0.1 cols d1 in vec padded } } }
        cache p:5.1 cols d3 in l1 padded { loop d3 by 16 { loop d1 { operand p:5.1 cols d3 in vec padded } } }
        cache scores:0.0 cols d2 in l1 padded
        loop d1 by 32 online most:2 reach {
          cache most:2.0 rows d0 cols d1 in l1 { loop d1 by 16 {
            loop d2 { contract scores:0 rows d0 cols d1 in vec padded }
            place chosen:1 rows d0 cols d1 in vec padded
          } }
          place most:2 rows d0 cols d1 in l1
          cache p:5.0 rows d0 cols d1 in l1 { place exp:3 rows d0 cols d1 in l1 place sum:4 rows d0 cols d1 in l1 }
          loop d3 by 16 { loop d1 { contract p:5 rows d0 cols d3 in vec padded } }
        }
        loop d3 by 16 { place out:6 rows d0 cols d3 in vec padded }
      } }
    }
  >} {
  ^bb0(%i: tensor<22x16xf32>, %j: tensor<96x16xf32>, %l: tensor<96x16xf32>, %m: tensor<22xi32>, %n: tensor<22xi64>):
    %scores = graph.compute ins(%i, %j : tensor<22x16xf32>, tensor<96x16xf32>) -> tensor<22x96xf32> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#qd, #kd, #qk]} {
    ^bb0(%a0: f32, %b0: f32):
      %x = arith.mulf %a0, %b0 : f32
      graph.yield %x : f32
    }
    %chosen = graph.compute ins(%scores, %m, %n : tensor<22x96xf32>, tensor<22xi32>, tensor<22xi64>) -> tensor<22x96xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #row, #id]} {
    ^bb0(%s: f32, %first: i32, %last: i64):
      %key = graph.index 1 : index
      %k32 = arith.index_cast %key : index to i32
      %k64 = arith.index_cast %key : index to i64
      %before = arith.cmpi sgt, %first, %k32 : i32
      %after = arith.cmpi sgt, %k64, %last : i64
      %hidden = arith.ori %before, %after : i1
      %least = arith.constant 0xFF800000 : f32
      %r = arith.select %hidden, %least, %s : f32
      graph.yield %r : f32
    }
    %most = graph.compute ins(%chosen : tensor<22x96xf32>) -> tensor<22xf32> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #row]} {
    ^bb0(%e: f32):
      graph.yield %e : f32
    }
    %exp = graph.compute ins(%chosen, %most : tensor<22x96xf32>, tensor<22xf32>) -> tensor<22x96xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%e: f32, %o: f32):
      %x = arith.subf %e, %o : f32
      %z = math.exp %x : f32
      graph.yield %z : f32
    }
    %sum = graph.compute ins(%exp : tensor<22x96xf32>) -> tensor<22xf32> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #row]} {
    ^bb0(%e: f32):
      graph.yield %e : f32
    }
    %p = graph.compute ins(%exp, %sum : tensor<22x96xf32>, tensor<22xf32>) -> tensor<22x96xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%e: f32, %o: f32):
      %x = arith.divf %e, %o : f32
      graph.yield %x : f32
    }
    %out = graph.compute ins(%p, %l : tensor<22x96xf32>, tensor<96x16xf32>) -> tensor<22x16xf32> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#pk, #kv, #qv]} {
    ^bb0(%e: f32, %o: f32):
      %x = arith.mulf %e, %o : f32
      graph.yield %x : f32
    }
    graph.yield %out : tensor<22x16xf32>
  }
  return %y : tensor<22x16xf32>
}
