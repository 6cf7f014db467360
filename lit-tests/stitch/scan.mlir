// Running combinations: which neighbours they become one kernel with, and that results stay the same at the sizes where
// vectors, tiles and versions begin and end.

// RUN: sutura-opt %s --stitch | FileCheck %s --check-prefix=PLAN
// RUN: sutura-opt %s --stitch --convert-graph-to-gir | FileCheck %s --check-prefix=GIR
// RUN: sutura-opt %s --stitch --convert-graph-to-gir=resident-columns=16 --convert-gir-to-cpu=vector-bytes=64 --check-passes=1 --strict -o /dev/null
// RUN: sutura-opt %s --stitch --convert-graph-to-gir --convert-gir-to-cpu=vector-bytes=4 --check-passes=1 --strict -o /dev/null

!matrix = tensor<?x?xf32, #dyn.shape<[M, N]>>
!column = tensor<?x1xf32, #dyn.shape<[M, 1]>>
!vector = tensor<?xf32, #dyn.shape<[N]>>
#id = affine_map<(d0, d1) -> (d0, d1)>
#first = affine_map<(d0, d1) -> (d0, 0)>
#last = affine_map<(d0, d1) -> (d1)>

// What goes into a scan, the scan, a sum of the same numbers and what needs both: one kernel that keeps a row.
// PLAN-LABEL: func.func @share(
// PLAN-COUNT-1: graph.fusion
// PLAN-NOT: graph.fusion
// PLAN: return
// GIR-LABEL: gir.kernel @share_row
// GIR: gir.unary "exp"
// GIR: gir.scan "add" "cols"
// GIR: gir.reduce "add" "cols"
// GIR: gir.binary "div"
func.func @share(%x: !matrix) -> !matrix {
  %M = dyn.symbol "M" {range = [0, 2]} : index
  %N = dyn.symbol "N" {range = [0, 200], likely = [16, 17]} : index
  %e = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %1 = math.exp %a : f32
    graph.yield %1 : f32
  }
  %s = graph.scan %e {axis = 1 : i64, combiner = #graph.combiner<add>} : !matrix -> !matrix
  %sum = graph.compute ins(%e : !matrix) -> !column {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #first]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %y = graph.compute ins(%s, %sum : !matrix, !column) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #id]} {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.divf %a, %b : f32
    graph.yield %0 : f32
  }
  return %y : !matrix
}

// Vectors that are the same for all rows, from the last column to the first, without the element itself.
// PLAN-LABEL: func.func @masked(
// PLAN-COUNT-1: graph.fusion
// PLAN-NOT: graph.fusion
// PLAN: return
// GIR-LABEL: gir.kernel @masked_row
// GIR: gir.scan "add" "cols" %{{.*}} {exclusive, reverse}
func.func @masked(%x: !matrix, %m: !vector, %b: !vector) -> !matrix {
  %M = dyn.symbol "M" {range = [1, 3]} : index
  %N = dyn.symbol "N" {range = [1, 9]} : index
  %p = graph.compute ins(%x, %m : !matrix, !vector) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #last, #id]} {
  ^bb0(%a: f32, %c: f32):
    %0 = arith.mulf %a, %c : f32
    graph.yield %0 : f32
  }
  %s = graph.scan %p {axis = 1 : i64, combiner = #graph.combiner<add>, exclusive, reverse} : !matrix -> !matrix
  %y = graph.compute ins(%s, %b : !matrix, !vector) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #last, #id]} {
  ^bb0(%a: f32, %c: f32):
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  return %y : !matrix
}

// The largest so far, the largest of all, and a scan of a scan.
// PLAN-LABEL: func.func @of_scans(
// PLAN-COUNT-1: graph.fusion
// PLAN-NOT: graph.fusion
// PLAN: return
func.func @of_scans(%x: !matrix) -> (!matrix, !column, !matrix) {
  %M = dyn.symbol "M" {range = [0, 1]} : index
  %N = dyn.symbol "N" {range = [7, 33]} : index
  %s = graph.scan %x {axis = 1 : i64, combiner = #graph.combiner<max>} : !matrix -> !matrix
  %t = graph.scan %s {axis = 1 : i64, combiner = #graph.combiner<min>, exclusive} : !matrix -> !matrix
  %all = graph.compute ins(%s : !matrix) -> !column {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #first]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  return %s, %all, %t : !matrix, !column, !matrix
}

// Two scans of one row that run apart become two loops of one kernel; what needs both at once is another kernel.
// PLAN-LABEL: func.func @both_ways(
// PLAN-COUNT-1: graph.fusion
// PLAN-NOT: graph.fusion
// PLAN: return
func.func @both_ways(%x: !matrix) -> (!matrix, !matrix) {
  %M = dyn.symbol "M" {range = [0, 2]} : index
  %N = dyn.symbol "N" {range = [0, 8]} : index
  %s = graph.scan %x {axis = 1 : i64, combiner = #graph.combiner<add>} : !matrix -> !matrix
  %t = graph.scan %x {axis = 1 : i64, combiner = #graph.combiner<add>, reverse} : !matrix -> !matrix
  return %s, %t : !matrix, !matrix
}

// PLAN-LABEL: func.func @met(
// PLAN-COUNT-2: graph.fusion
// PLAN-NOT: graph.fusion
// PLAN: return
func.func @met(%x: !matrix) -> !matrix {
  %M = dyn.symbol "M" {range = [1, 3]} : index
  %N = dyn.symbol "N" {range = [15, 16]} : index
  %s = graph.scan %x {axis = 1 : i64, combiner = #graph.combiner<add>} : !matrix -> !matrix
  %t = graph.scan %x {axis = 1 : i64, combiner = #graph.combiner<add>, reverse} : !matrix -> !matrix
  %y = graph.compute ins(%s, %t : !matrix, !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%a: f32, %c: f32):
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  return %y : !matrix
}
