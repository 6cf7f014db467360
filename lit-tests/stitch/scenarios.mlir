// Scenarios that fusing compilers for dynamic shapes got wrong, each through stitching and lowering down to functions: what
// becomes one kernel and what does not, and that results stay the same at the sizes where loops, tiles and versions begin
// and end.

// RUN: sutura-opt %s --stitch | FileCheck %s --check-prefix=PLAN
// RUN: sutura-opt %s --stitch --convert-graph-to-gir=resident-columns=64 | FileCheck %s --check-prefix=SHORT
// RUN: sutura-opt %s --stitch --convert-graph-to-gir --convert-gir-to-cpu --check-passes=2 --strict -o /dev/null
// RUN: sutura-opt %s --stitch --convert-graph-to-gir=resident-columns=64 --convert-gir-to-cpu=vector-bytes=64 --check-passes=2 --strict -o /dev/null

!matrix = tensor<?x?xf32, #dyn.shape<[M, N]>>
!column = tensor<?x1xf32, #dyn.shape<[M, 1]>>
!vector = tensor<?xf32, #dyn.shape<[N]>>
#id = affine_map<(d0, d1) -> (d0, d1)>
#first = affine_map<(d0, d1) -> (d0, 0)>
#second = affine_map<(d0, d1) -> (d1)>
#line = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// Two combinations along rows and what follows each are one kernel, whether a row stays in the cache or not.
// PLAN-LABEL: func.func @softmax(
// PLAN-COUNT-1: graph.fusion
// PLAN-NOT: graph.fusion
// PLAN: return
// SHORT: gir.kernel @softmax_row{{[0-9]+}}({{.*}}%N : [0, 30000]{{.*}}requires([-N + 64])
// SHORT: gir.reduce "max" "cols"
// SHORT: gir.reduce "add" "cols"
// SHORT-LABEL: rt.program @softmax(
// SHORT: select if [N - 1, -N + 1], [N - 31, -N + 31], [N - 32, -N + 32], [N - 33, -N + 33], [-N + 64] {
func.func @softmax(%x: !matrix) -> !matrix {
  %M = dyn.symbol "M" {range = [0, 7], likely = [1]} : index
  %N = dyn.symbol "N" {range = [0, 30000], likely = [1, 31, 32, 33, 63, 64, 65, 512, 513]} : index
  %max = graph.compute ins(%x : !matrix) -> !column {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #first]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %e = graph.compute ins(%x, %max : !matrix, !column) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #id]} {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    graph.yield %1 : f32
  }
  %sum = graph.compute ins(%e : !matrix) -> !column {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #first]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %y = graph.compute ins(%e, %sum : !matrix, !column) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #id]} {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.divf %a, %b : f32
    graph.yield %0 : f32
  }
  return %y : !matrix
}

// Two sums of one row that do not read each other are one kernel, with what reads both.
// PLAN-LABEL: func.func @moments(
// PLAN-COUNT-1: graph.fusion
// PLAN-NOT: graph.fusion
// PLAN: return
func.func @moments(%x: !matrix, %scale: !vector) -> !matrix {
  %M = dyn.symbol "M" {range = [0, 7], likely = [1]} : index
  %N = dyn.symbol "N" {range = [1, 30000], likely = [31, 32, 33, 512, 513]} : index
  %sum = graph.compute ins(%x : !matrix) -> !column {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #first]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %squares = graph.compute ins(%x : !matrix) -> !column {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #first]} {
  ^bb0(%a: f32):
    %0 = arith.mulf %a, %a : f32
    graph.yield %0 : f32
  }
  %y = graph.compute ins(%x, %sum, %squares, %scale : !matrix, !column, !column, !vector) -> !matrix {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #first, #second, #id]
  } {
  ^bb0(%a: f32, %s: f32, %q: f32, %g: f32):
    %one = arith.constant 1.0 : f32
    %0 = arith.subf %a, %s : f32
    %1 = arith.addf %q, %one : f32
    %2 = arith.divf %0, %1 : f32
    %3 = arith.mulf %2, %g : f32
    graph.yield %3 : f32
  }
  return %y : !matrix
}

// A sum of rows beside an elementwise op on the same tensor: one kernel reads it once.
// PLAN-LABEL: func.func @side_by_side(
// PLAN-COUNT-1: graph.fusion
// PLAN-NOT: graph.fusion
// PLAN: return
func.func @side_by_side(%x: !matrix) -> (!column, !matrix) {
  %M = dyn.symbol "M" {range = [0, 9], likely = [1]} : index
  %N = dyn.symbol "N" {range = [0, 1000], likely = [31, 33]} : index
  %sum = graph.compute ins(%x : !matrix) -> !column {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #first]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %e = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %0 = math.exp %a : f32
    graph.yield %0 : f32
  }
  return %sum, %e : !column, !matrix
}

// Chains of equal numbers of elements that share nothing: nothing is saved by a common kernel but the launch, and chains
// of unequal numbers have no common loop at all.
// PLAN-LABEL: func.func @unequal(
// PLAN-COUNT-2: graph.fusion
// PLAN: return
func.func @unequal(%x: tensor<?xf32, #dyn.shape<[A]>>, %y: tensor<?xf32, #dyn.shape<[B]>>)
    -> (tensor<?xf32, #dyn.shape<[A]>>, tensor<?xf32, #dyn.shape<[B]>>) {
  %A = dyn.symbol "A" {range = [0, 100], likely = [16, 17]} : index
  %B = dyn.symbol "B" {range = [0, 100], likely = [15, 16]} : index
  %p = graph.compute ins(%x : tensor<?xf32, #dyn.shape<[A]>>) -> tensor<?xf32, #dyn.shape<[A]>> {iterators = #graph.iterators<[parallel]>, maps = [#line, #line]} {
  ^bb0(%a: f32):
    %0 = math.exp %a : f32
    graph.yield %0 : f32
  }
  %q = graph.compute ins(%y : tensor<?xf32, #dyn.shape<[B]>>) -> tensor<?xf32, #dyn.shape<[B]>> {iterators = #graph.iterators<[parallel]>, maps = [#line, #line]} {
  ^bb0(%a: f32):
    %0 = math.exp %a : f32
    graph.yield %0 : f32
  }
  return %p, %q : tensor<?xf32, #dyn.shape<[A]>>, tensor<?xf32, #dyn.shape<[B]>>
}

// A row that fits is kept, at one column more the version for rows of any length serves alone.
// PLAN-LABEL: func.func @fits(
// SHORT-LABEL: gir.kernel @fits_row0(
// SHORT-NOT: gir.kernel @fits_row1
// SHORT: rt.program @fits(
// PLAN-LABEL: func.func @too_long(
// SHORT: gir.kernel @too_long_row0(
// SHORT: gir.kernel @too_long_row1(
// SHORT: rt.program @too_long(
func.func @fits(%x: tensor<3x64xf32>) -> tensor<3x64xf32> {
  %sum = graph.compute ins(%x : tensor<3x64xf32>) -> tensor<3x1xf32> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #first]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %y = graph.compute ins(%x, %sum : tensor<3x64xf32>, tensor<3x1xf32>) -> tensor<3x64xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #id]} {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    graph.yield %0 : f32
  }
  return %y : tensor<3x64xf32>
}
func.func @too_long(%x: tensor<3x65xf32>) -> tensor<3x65xf32> {
  %sum = graph.compute ins(%x : tensor<3x65xf32>) -> tensor<3x1xf32> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #first]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %y = graph.compute ins(%x, %sum : tensor<3x65xf32>, tensor<3x1xf32>) -> tensor<3x65xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #id]} {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    graph.yield %0 : f32
  }
  return %y : tensor<3x65xf32>
}

// Empty tensors: a sum of nothing is zero, and is written.
// PLAN-LABEL: func.func @empty(
func.func @empty(%x: tensor<4x0xf32>) -> (tensor<4x1xf32>, tensor<4x0xf32>) {
  %sum = graph.compute ins(%x : tensor<4x0xf32>) -> tensor<4x1xf32> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #first]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %y = graph.compute ins(%x : tensor<4x0xf32>) -> tensor<4x0xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %0 = arith.negf %a : f32
    graph.yield %0 : f32
  }
  return %sum, %y : tensor<4x1xf32>, tensor<4x0xf32>
}

// The sum of a tensor is a number of no dimensions, which all of it can be divided by.
// PLAN-LABEL: func.func @total(
// PLAN-COUNT-1: graph.fusion
// PLAN: return
func.func @total(%x: !vector) -> !vector {
  %N = dyn.symbol "N" {range = [0, 30000], likely = [1, 31, 33, 513]} : index
  %sum = graph.compute ins(%x : !vector) -> tensor<f32> {iterators = #graph.iterators<[reduce]>, combiners = #graph.combiners<[max]>, maps = [#line, #none]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %y = graph.compute ins(%x, %sum : !vector, tensor<f32>) -> !vector {iterators = #graph.iterators<[parallel]>, maps = [#line, #none, #line]} {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    graph.yield %0 : f32
  }
  return %y : !vector
}
