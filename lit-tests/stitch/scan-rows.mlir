// Running combinations along rows, and which neighbours they become one kernel with.

// RUN: sutura-opt %s --stitch | FileCheck %s --check-prefix=PLAN
// RUN: sutura-opt %s --stitch --convert-graph-to-gir | FileCheck %s --check-prefix=GIR
// RUN: sutura-opt %s --stitch --convert-graph-to-gir --convert-gir-to-cpu=vector-bytes=32 --check-passes=2 --strict -o /dev/null

!matrix = tensor<?x?xf32, #dyn.shape<[M, N]>>
!row = tensor<1x?xf32, #dyn.shape<[1, N]>>
!cube = tensor<?x?x?xf32, #dyn.shape<[A, B, C]>>
#id = affine_map<(d0, d1) -> (d0, d1)>
#second = affine_map<(d0, d1) -> (0, d1)>

// Along rows a loop carries a row of columns; the sum of each column is a loop before.
// PLAN-LABEL: func.func @down(
// PLAN-COUNT-1: graph.fusion
// PLAN-NOT: graph.fusion
// PLAN: return
// GIR-LABEL: gir.kernel @down_row
// GIR-NOT: gir.scan
// GIR-COUNT-2: gir.for
func.func @down(%x: !matrix) -> !matrix {
  %M = dyn.symbol "M" {range = [0, 1]} : index
  %N = dyn.symbol "N" {range = [1, 31]} : index
  %s = graph.scan %x {axis = 0 : i64, combiner = #graph.combiner<add>, reverse} : !matrix -> !matrix
  %sum = graph.compute ins(%x : !matrix) -> !row {iterators = #graph.iterators<[reduce, parallel]>, combiners = #graph.combiners<[add]>, maps = [#id, #second]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %y = graph.compute ins(%s, %sum : !matrix, !row) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #second, #id]} {
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
  %M = dyn.symbol "M" {range = [0, 2]} : index
  %N = dyn.symbol "N" {range = [0, 17]} : index
  %s = graph.scan %x {axis = 0 : i64, combiner = #graph.combiner<add>} : !matrix -> !matrix
  %t = graph.scan %s {axis = 1 : i64, combiner = #graph.combiner<add>} : !matrix -> !matrix
  return %t : !matrix
}

// A dimension in the middle, with what makes each element before it; its columns and those of the others are one.
// PLAN-LABEL: func.func @middle(
// PLAN-COUNT-1: graph.fusion
// PLAN-NOT: graph.fusion
// PLAN: return
func.func @middle(%x: !cube) -> !cube {
  %A = dyn.symbol "A" {range = [0, 2]} : index
  %B = dyn.symbol "B" {range = [0, 3]} : index
  %C = dyn.symbol "C" {range = [1, 17]} : index
  %e = graph.compute ins(%x : !cube) -> !cube {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>]} {
  ^bb0(%a: f32):
    %0 = arith.negf %a : f32
    graph.yield %0 : f32
  }
  %s = graph.scan %e {axis = 1 : i64, combiner = #graph.combiner<mul>, exclusive} : !cube -> !cube
  return %s : !cube
}
