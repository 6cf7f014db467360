// RUN: sutura-opt %s --stitch --convert-graph-to-gir | FileCheck %s
// RUN: sutura-opt %s --stitch --convert-graph-to-gir --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: sutura-opt %s --stitch --convert-graph-to-gir --convert-gir-to-cpu=vector-bytes=64 | FileCheck %s --check-prefix=CPU
// RUN: sutura-opt %s --stitch --convert-graph-to-gir --convert-gir-to-cpu=vector-bytes=64 --check-passes=2 --strict -o /dev/null

!matrix = tensor<?x?xf32, #dyn.shape<[M, N]>>
!column = tensor<?x1xf32, #dyn.shape<[M, 1]>>
#id = affine_map<(d0, d1) -> (d0, d1)>
#first = affine_map<(d0, d1) -> (d0, 0)>

// Each likely number of columns has a version of its own, in the order in which they are declared, before those for any
// number. The kernel declares the size as known, so its loops have constant bounds: two whole vectors, no tail, no mask.
// CHECK-LABEL: gir.kernel @scaled_row0
// CHECK-SAME: %N : [32, 32] div 8)
// CHECK-LABEL: gir.kernel @scaled_row1
// CHECK-SAME: %N : [24, 24] div 8)
// CHECK-LABEL: gir.kernel @scaled_row2
// CHECK-SAME: %N : [8, 512] div 8)
// CHECK-LABEL: rt.program @scaled
// CHECK: select if [N - 32, -N + 32], [N - 24, -N + 24] {
// CHECK-NEXT: launch @scaled_row0(
// CHECK-NEXT: }, {
// CHECK-NEXT: launch @scaled_row1(
// CHECK-NEXT: }, {
// CHECK-NEXT: launch @scaled_row2(
// REMARK: remark: has versions of its own for the likely sizes N = 32, N = 24
// CPU-LABEL: func.func @scaled_row0(
// CPU: %[[N:.*]] = arith.constant 32 : i64
// CPU-NOT: llvm.getelementptr %arg1[%c1
// CPU-LABEL: func.func @scaled_row2(
func.func @scaled(%x: !matrix) -> !matrix {
  %M = dyn.symbol "M" {range = [0, 9], likely = [3]} : index
  %N = dyn.symbol "N" {range = [8, 512], div = 8, likely = [32, 24]} : index
  %s = graph.compute ins(%x : !matrix) -> !column {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #first]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %y = graph.compute ins(%x, %s : !matrix, !column) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #id]} {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  return %y : !matrix
}

// A number of rows has no version: no loop in a kernel runs over them.
// CHECK-LABEL: rt.program @rows
// CHECK-NOT: select
// CHECK: launch @rows_row0(
func.func @rows(%x: tensor<?x24xf32, #dyn.shape<[M, 24]>>) -> tensor<?x24xf32, #dyn.shape<[M, 24]>> {
  %M = dyn.symbol "M" {range = [0, 9], likely = [3]} : index
  %y = graph.compute ins(%x : tensor<?x24xf32, #dyn.shape<[M, 24]>>) -> tensor<?x24xf32, #dyn.shape<[M, 24]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %v = arith.negf %a : f32
    graph.yield %v : f32
  }
  return %y : tensor<?x24xf32, #dyn.shape<[M, 24]>>
}

// Four versions at most.
// CHECK-LABEL: rt.program @many
// CHECK: select if [N - 1, -N + 1], [N - 2, -N + 2], [N - 3, -N + 3], [N - 4, -N + 4] {
func.func @many(%x: !matrix) -> !column {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" {range = [0, 64], likely = [1, 2, 3, 4, 5]} : index
  %s = graph.compute ins(%x : !matrix) -> !column {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #first]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  return %s : !column
}

// A long loop gains nothing from a known bound.
// CHECK-LABEL: rt.program @long
// CHECK-NOT: N - 1025
func.func @long(%x: !matrix) -> !column {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" {range = [0, 2000], likely = [1025]} : index
  %s = graph.compute ins(%x : !matrix) -> !column {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #first]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  return %s : !column
}
