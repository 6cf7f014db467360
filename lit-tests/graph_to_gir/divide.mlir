// Divisors of integers are checked where something is divided by them: with the op's name, and the element of its result.
//
// RUN: sutura-opt %s --stitch --convert-graph-to-gir | FileCheck %s
// RUN: sutura-opt %s --stitch --convert-graph-to-gir --plan-buffers --convert-gir-to-cpu=vector-bytes=32 | FileCheck %s --check-prefix=CPU

#two = affine_map<(i, j) -> (i, j)>
#rows = affine_map<(i, j) -> (i, 0)>
!x = tensor<?x?xi32, #dyn.shape<[M, N]>>
!d = tensor<?x1xi32, #dyn.shape<[M, 1]>>

// By each element: the position is that of the element, row by row.
// CHECK-LABEL: gir.kernel @elements_row0(
// CHECK: %[[D:.*]] = gir.divisor "graph.compute 'ratio'" %{{.*}} at(%{{.*}}, %{{.*}}, %{{.*}}) : !gir.tile<l1, i32,
// CHECK: gir.binary "divsi" %{{.*}}, %[[D]]
// CPU-LABEL: func.func @elements_row0
// CPU-SAME: checks = [{kind = "division", what = "graph.compute 'ratio'"}]
// CPU: %[[ZEROS:.*]] = arith.cmpi eq
// CPU: %[[ANY:.*]] = vector.reduction <or>
// CPU: scf.if %[[ANY]]
// CPU: llvm.call
// CPU: arith.select %{{.*}}, %{{.*}}, %{{.*}} : vector<8xi1>, vector<8xi32>
// CPU: arith.divsi
func.func @elements(%a: !x, %b: !x) -> !x {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%a, %b : !x, !x) -> !x {iterators = #graph.iterators<[parallel, parallel]>, maps = [#two, #two, #two]} {
  ^bb0(%e: i32, %f: i32):
    %q = arith.divsi %e, %f : i32
    graph.yield %q : i32
  } loc("ratio")
  return %y : !x
}

// By a number of the row: where there are no columns it divides nothing.
// CHECK-LABEL: gir.kernel @of_rows_row0(
// CHECK: %[[SOME:.*]] = gir.compare "slt"
// CHECK: %[[SAFE:.*]] = gir.ternary "select" %[[SOME]]
// CHECK: gir.divisor "graph.compute '%y'" %[[SAFE]] at(%{{.*}}, %{{.*}}, %{{.*}}) : !gir.tile<vec, i32, [1, 1]>
func.func @of_rows(%a: !x, %b: !d) -> !x {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%a, %b : !x, !d) -> !x {iterators = #graph.iterators<[parallel, parallel]>, maps = [#two, #rows, #two]} {
  ^bb0(%e: i32, %f: i32):
    %q = arith.remsi %e, %f : i32
    graph.yield %q : i32
  }
  return %y : !x
}

// By a constant other than 0 there is nothing to check.
// CHECK-LABEL: gir.kernel @by_three_row0(
// CHECK-NOT: gir.divisor
// CHECK: gir.binary "floordivsi"
// CPU-LABEL: func.func @by_three_row0
// CPU-NOT: llvm.call
// CPU: arith.floordivsi
func.func @by_three(%a: !x) -> !x {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%a : !x) -> !x {iterators = #graph.iterators<[parallel, parallel]>, maps = [#two, #two]} {
  ^bb0(%e: i32):
    %three = arith.constant 3 : i32
    %q = arith.floordivsi %e, %three : i32
    graph.yield %q : i32
  }
  return %y : !x
}

// By the constant 0, always wrong where there are elements.
// CHECK-LABEL: gir.kernel @by_zero_row0(
// CHECK: gir.divisor "graph.compute '%y'"
func.func @by_zero(%a: !x) -> !x {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%a : !x) -> !x {iterators = #graph.iterators<[parallel, parallel]>, maps = [#two, #two]} {
  ^bb0(%e: i32):
    %zero = arith.constant 0 : i32
    %q = arith.divsi %e, %zero : i32
    graph.yield %q : i32
  }
  return %y : !x
}
