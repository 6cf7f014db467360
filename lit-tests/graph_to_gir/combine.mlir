// RUN: sutura-opt %s --pass-pipeline='builtin.module(func.func(canonicalize,stitch),convert-graph-to-gir)' --check-passes --strict | FileCheck %s
// RUN: sutura-opt %s --pass-pipeline='builtin.module(func.func(canonicalize,stitch),convert-graph-to-gir,convert-gir-to-cpu)' --check-passes=2 --strict -o %t.mlir
// RUN: sutura-opt %s --pass-pipeline='builtin.module(func.func(stitch))' --remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// What a region joins goes to a kernel of its own, which carries the state.

#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>

// REMARK: {{combines by a region, which only a loop of its own does}}

// CHECK-LABEL: gir.kernel @argmax_loop1(
// CHECK: gir.for
// CHECK: gir.compare "ogt"
// CHECK: gir.ternary "select"
// CHECK: gir.ternary "select"
func.func @argmax(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> (tensor<?xf32, #dyn.shape<[M]>>, tensor<?xi64, #dyn.shape<[M]>>) {
  %M = dyn.symbol "M" {range = [0, 40]} : index
  %N = dyn.symbol "N" {range = [0, 40]} : index
  %clamped = graph.compute ins(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#all, #all]} {
  ^bb0(%e: f32):
    // Ties are likely.
    %0 = math.round %e : f32
    graph.yield %0 : f32
  }
  %most, %place = graph.compute ins(%clamped : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?xf32, #dyn.shape<[M]>>, tensor<?xi64, #dyn.shape<[M]>> {
    iterators = #graph.iterators<[parallel, reduce]>, maps = [#all, #row, #row],
    state = #graph.state<[0xFF800000 : f32, 9223372036854775807 : i64], laws = [associative, commutative]>
  } {
  ^bb0(%e: f32):
    %i = graph.index 1 : index
    %k = arith.index_cast %i : index to i64
    graph.yield %e, %k : f32, i64
  } combine {
  ^bb0(%a: f32, %i: i64, %b: f32, %j: i64):
    %more = arith.cmpf ogt, %b, %a : f32
    %same = arith.cmpf oeq, %b, %a : f32
    %before = arith.cmpi slt, %j, %i : i64
    %first = arith.andi %same, %before : i1
    %second = arith.ori %more, %first : i1
    %c = arith.select %second, %b, %a : f32
    %k = arith.select %second, %j, %i : i64
    graph.yield %c, %k : f32, i64
  }
  return %most, %place : tensor<?xf32, #dyn.shape<[M]>>, tensor<?xi64, #dyn.shape<[M]>>
}

// Along the first dimension: a tile of columns carries its states.
// CHECK-LABEL: gir.kernel @welford_loop0(
// CHECK: gir.for
func.func @welford(%x: tensor<?x?xf16, #dyn.shape<[M, N]>>) -> (tensor<?xf16, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>) {
  %mean, %squares, %count = graph.compute ins(%x : tensor<?x?xf16, #dyn.shape<[M, N]>>) -> tensor<?xf16, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>> {
    iterators = #graph.iterators<[reduce, parallel]>, maps = [#all, #col, #col, #col],
    state = #graph.state<[0.0 : f32, 0.0 : f32, 0.0 : f32], laws = [associative, commutative]>
  } {
  ^bb0(%e: f16):
    %w = arith.extf %e : f16 to f32
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    graph.yield %w, %zero, %one : f32, f32, f32
  } combine {
  ^bb0(%ma: f32, %qa: f32, %na: f32, %mb: f32, %qb: f32, %nb: f32):
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %n = arith.addf %na, %nb : f32
    %none = arith.cmpf oeq, %n, %zero : f32
    %divisor = arith.select %none, %one, %n : f32
    %delta = arith.subf %mb, %ma : f32
    %share = arith.divf %nb, %divisor : f32
    %step = arith.mulf %delta, %share : f32
    %m = arith.addf %ma, %step : f32
    %square = arith.mulf %delta, %delta : f32
    %weight = arith.mulf %na, %share : f32
    %more = arith.mulf %square, %weight : f32
    %q = arith.addf %qa, %qb : f32
    %r = arith.addf %q, %more : f32
    graph.yield %m, %r, %n : f32, f32, f32
  }
  return %mean, %squares, %count : tensor<?xf16, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>
}

// No law is declared: elements are joined in row-major order, over both dims.
// CHECK-LABEL: gir.kernel @horner_loop0(
// CHECK: gir.for
// CHECK: gir.for
func.func @horner(%x: tensor<?x?xi32, #dyn.shape<[M, N]>>) -> tensor<i32> {
  %y = graph.compute ins(%x : tensor<?x?xi32, #dyn.shape<[M, N]>>) -> tensor<i32> {
    iterators = #graph.iterators<[reduce, reduce]>, maps = [#all, affine_map<(d0, d1) -> ()>],
    state = #graph.state<[7 : i32]>
  } {
  ^bb0(%e: i32):
    graph.yield %e : i32
  } combine {
  ^bb0(%a: i32, %b: i32):
    %n = graph.size [N] : index
    %k = arith.index_cast %n : index to i32
    %0 = arith.muli %a, %k : i32
    %1 = arith.addi %0, %b : i32
    graph.yield %1 : i32
  }
  return %y : tensor<i32>
}

// Known ones of truth values and bits.
// CHECK-LABEL: gir.kernel @bits_row0(
// CHECK: gir.reduce {{.*}}"and"
// CHECK: gir.reduce {{.*}}"or"
func.func @bits(%x: tensor<?x?xi8, #dyn.shape<[M, N]>>) -> (tensor<?xi8, #dyn.shape<[M]>>, tensor<?xi8, #dyn.shape<[M]>>) {
  %all, %any = graph.compute ins(%x : tensor<?x?xi8, #dyn.shape<[M, N]>>) -> tensor<?xi8, #dyn.shape<[M]>>, tensor<?xi8, #dyn.shape<[M]>> {
    iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[and, or]>, maps = [#all, #row, #row]
  } {
  ^bb0(%e: i8):
    graph.yield %e, %e : i8, i8
  }
  return %all, %any : tensor<?xi8, #dyn.shape<[M]>>, tensor<?xi8, #dyn.shape<[M]>>
}
