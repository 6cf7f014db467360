// Running combinations: which neighbours they become one kernel with, and that results stay the same at the sizes where
// vectors, tiles and versions begin and end.

// RUN: sutura-opt %s --stitch --remarks 2>&1 | FileCheck %s --check-prefix=PLAN
// RUN: sutura-opt %s --stitch --convert-graph-to-gir | FileCheck %s --check-prefix=GIR
// RUN: sutura-opt %s --stitch --convert-graph-to-gir --convert-gir-to-cpu --check-passes=2 --strict -o /dev/null
// RUN: sutura-opt %s --stitch --convert-graph-to-gir=resident-columns=16 --convert-gir-to-cpu=vector-bytes=64 --check-passes=2 --strict -o /dev/null
// RUN: sutura-opt %s --stitch --convert-graph-to-gir --convert-gir-to-cpu=vector-bytes=4 --check-passes=1 --strict -o /dev/null

!matrix = tensor<?x?xf32, #dyn.shape<[M, N]>>
!column = tensor<?x1xf32, #dyn.shape<[M, 1]>>
!row = tensor<1x?xf32, #dyn.shape<[1, N]>>
!vector = tensor<?xf32, #dyn.shape<[N]>>
!cube = tensor<?x?x?xf32, #dyn.shape<[A, B, C]>>
#id = affine_map<(d0, d1) -> (d0, d1)>
#first = affine_map<(d0, d1) -> (d0, 0)>
#second = affine_map<(d0, d1) -> (0, d1)>
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
  %M = dyn.symbol "M" {range = [0, 7], likely = [1]} : index
  %N = dyn.symbol "N" {range = [0, 30000], likely = [1, 15, 16, 17, 64, 65, 130]} : index
  %e = graph.compute ins(%x : !matrix) -> !matrix {iterators = ["parallel", "parallel"], maps = [#id, #id]} {
  ^bb0(%a: f32):
    %1 = math.exp %a : f32
    graph.yield %1 : f32
  }
  %s = graph.scan %e {axis = 1 : i64, combiner = "add"} : !matrix -> !matrix
  %sum = graph.compute ins(%e : !matrix) -> !column {iterators = ["parallel", "reduce"], combiners = ["add"], maps = [#id, #first]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %y = graph.compute ins(%s, %sum : !matrix, !column) -> !matrix {iterators = ["parallel", "parallel"], maps = [#id, #first, #id]} {
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
  %M = dyn.symbol "M" {range = [0, 40], likely = [1, 17]} : index
  %N = dyn.symbol "N" {range = [0, 3000], likely = [1, 15, 16, 17, 33]} : index
  %p = graph.compute ins(%x, %m : !matrix, !vector) -> !matrix {iterators = ["parallel", "parallel"], maps = [#id, #last, #id]} {
  ^bb0(%a: f32, %c: f32):
    %0 = arith.mulf %a, %c : f32
    graph.yield %0 : f32
  }
  %s = graph.scan %p {axis = 1 : i64, combiner = "add", exclusive, reverse} : !matrix -> !matrix
  %y = graph.compute ins(%s, %b : !matrix, !vector) -> !matrix {iterators = ["parallel", "parallel"], maps = [#id, #last, #id]} {
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
  %M = dyn.symbol "M" {range = [0, 7], likely = [1]} : index
  %N = dyn.symbol "N" {range = [0, 3000], likely = [1, 16, 17, 33]} : index
  %s = graph.scan %x {axis = 1 : i64, combiner = "max"} : !matrix -> !matrix
  %t = graph.scan %s {axis = 1 : i64, combiner = "min", exclusive} : !matrix -> !matrix
  %all = graph.compute ins(%s : !matrix) -> !column {iterators = ["parallel", "reduce"], combiners = ["max"], maps = [#id, #first]} {
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
  %M = dyn.symbol "M" {range = [0, 7], likely = [1]} : index
  %N = dyn.symbol "N" {range = [0, 3000], likely = [1, 16, 17, 33]} : index
  %s = graph.scan %x {axis = 1 : i64, combiner = "add"} : !matrix -> !matrix
  %t = graph.scan %x {axis = 1 : i64, combiner = "add", reverse} : !matrix -> !matrix
  return %s, %t : !matrix, !matrix
}

// PLAN-LABEL: func.func @met(
// PLAN-COUNT-2: graph.fusion
// PLAN-NOT: graph.fusion
// PLAN: return
func.func @met(%x: !matrix) -> !matrix {
  %M = dyn.symbol "M" {range = [0, 7], likely = [1]} : index
  %N = dyn.symbol "N" {range = [0, 3000], likely = [1, 16, 17, 33]} : index
  %s = graph.scan %x {axis = 1 : i64, combiner = "add"} : !matrix -> !matrix
  %t = graph.scan %x {axis = 1 : i64, combiner = "add", reverse} : !matrix -> !matrix
  %y = graph.compute ins(%s, %t : !matrix, !matrix) -> !matrix {iterators = ["parallel", "parallel"], maps = [#id, #id, #id]} {
  ^bb0(%a: f32, %c: f32):
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  return %y : !matrix
}

// Along rows a loop carries a row of columns; the sum of each column is a loop before.
// PLAN-LABEL: func.func @down(
// PLAN-COUNT-1: graph.fusion
// PLAN-NOT: graph.fusion
// PLAN: return
// GIR-LABEL: gir.kernel @down_row
// GIR-NOT: gir.scan
// GIR-COUNT-2: gir.for
func.func @down(%x: !matrix) -> !matrix {
  %M = dyn.symbol "M" {range = [0, 3000], likely = [1, 2, 33]} : index
  %N = dyn.symbol "N" {range = [0, 3000], likely = [1, 16, 17, 129]} : index
  %s = graph.scan %x {axis = 0 : i64, combiner = "add", reverse} : !matrix -> !matrix
  %sum = graph.compute ins(%x : !matrix) -> !row {iterators = ["reduce", "parallel"], combiners = ["add"], maps = [#id, #second]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %y = graph.compute ins(%s, %sum : !matrix, !row) -> !matrix {iterators = ["parallel", "parallel"], maps = [#id, #second, #id]} {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    graph.yield %0 : f32
  }
  return %y : !matrix
}

// Along both dimensions: two kernels.
// PLAN-LABEL: func.func @area(
// PLAN-COUNT-2: graph.fusion
// PLAN-NOT: graph.fusion
// PLAN: return
func.func @area(%x: !matrix) -> !matrix {
  %M = dyn.symbol "M" {range = [0, 3000], likely = [1, 2, 33]} : index
  %N = dyn.symbol "N" {range = [0, 3000], likely = [1, 16, 17]} : index
  %s = graph.scan %x {axis = 0 : i64, combiner = "add"} : !matrix -> !matrix
  %t = graph.scan %s {axis = 1 : i64, combiner = "add"} : !matrix -> !matrix
  return %t : !matrix
}

// A dimension in the middle, with what makes each element before it; its columns and those of the others are one.
// PLAN-LABEL: func.func @middle(
// PLAN-COUNT-1: graph.fusion
// PLAN-NOT: graph.fusion
// PLAN: return
func.func @middle(%x: !cube) -> !cube {
  %A = dyn.symbol "A" {range = [0, 9], likely = [1, 3]} : index
  %B = dyn.symbol "B" {range = [0, 99], likely = [1, 5]} : index
  %C = dyn.symbol "C" {range = [0, 999], likely = [1, 17]} : index
  %e = graph.compute ins(%x : !cube) -> !cube {iterators = ["parallel", "parallel", "parallel"], maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>]} {
  ^bb0(%a: f32):
    %0 = arith.negf %a : f32
    graph.yield %0 : f32
  }
  %s = graph.scan %e {axis = 1 : i64, combiner = "mul", exclusive} : !cube -> !cube
  return %s : !cube
}
