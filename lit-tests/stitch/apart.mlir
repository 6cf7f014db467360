// RUN: sutura-opt %s --stitch | FileCheck %s
// RUN: sutura-opt %s --stitch --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

!matrix = tensor<?x?xf32, #dyn.shape<[M, N]>>
!column = tensor<?x1xf32, #dyn.shape<[M, 1]>>
!row = tensor<?xf32, #dyn.shape<[N]>>
#id = affine_map<(d0, d1) -> (d0, d1)>
#first = affine_map<(d0, d1) -> (d0, 0)>
#second = affine_map<(d0, d1) -> (d1)>

// What is combined over rows is repeated over them: a kernel of tiles of columns runs through the rows twice.
// CHECK-LABEL: func.func @other_axis
// CHECK: graph.fusion(%x :
// CHECK-NOT: graph.fusion
func.func @other_axis(%x: !matrix) -> !matrix {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  // REMARK: apart.mlir:[[#@LINE+1]]:10: remark: a region of the family 'row' with 2 ops
  %sum = graph.compute ins(%x : !matrix) -> !row {iterators = #graph.iterators<[reduce, parallel]>, combiners = #graph.combiners<[add]>, maps = [#id, #second]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %y = graph.compute ins(%x, %sum : !matrix, !row) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #second, #id]} {
  ^bb0(%a: f32, %b: f32):
    %v = arith.divf %a, %b : f32
    graph.yield %v : f32
  }
  return %y : !matrix
}

// A diamond around a sum over rows is one region too.
// CHECK-LABEL: func.func @diamond
// CHECK-COUNT-1: graph.fusion
// CHECK-NOT: graph.fusion
// CHECK: return
func.func @diamond(%x: !matrix) -> !matrix {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %a = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%p: f32):
    %v = math.exp %p : f32
    graph.yield %v : f32
  }
  %c = graph.compute ins(%a : !matrix) -> !row {iterators = #graph.iterators<[reduce, parallel]>, combiners = #graph.combiners<[add]>, maps = [#id, #second]} {
  ^bb0(%p: f32):
    graph.yield %p : f32
  }
  %y = graph.compute ins(%a, %c : !matrix, !row) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #second, #id]} {
  ^bb0(%p: f32, %q: f32):
    %v = arith.divf %p, %q : f32
    graph.yield %v : f32
  }
  return %y : !matrix
}

// A reshape makes no kernel; what is on its two sides stays apart.
// REMARK: remark: not stitched with %flat: it is a reshape of what another region makes
// CHECK-LABEL: func.func @reshaped
// CHECK: %[[A:.*]] = graph.fusion(%x :
// CHECK: %[[R:.*]] = graph.reshape %[[A]]
// CHECK: graph.fusion(%[[R]] :
// CHECK-SAME: reasons = ["%flat: it is a reshape of what another region makes"]
func.func @reshaped(%x: !matrix) -> tensor<?xf32, #dyn.shape<[M*N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %a = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%p: f32):
    %v = math.exp %p : f32
    graph.yield %v : f32
  }
  %flat = graph.reshape %a : !matrix -> tensor<?xf32, #dyn.shape<[M*N]>>
  %y = graph.compute ins(%flat : tensor<?xf32, #dyn.shape<[M*N]>>) -> tensor<?xf32, #dyn.shape<[M*N]>> {
    iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
  } {
  ^bb0(%p: f32):
    %v = arith.negf %p : f32
    graph.yield %v : f32
  }
  return %y : tensor<?xf32, #dyn.shape<[M*N]>>
}

// Rows of different lengths.
// REMARK: remark: not stitched with %s: combines along N columns here and along K there
// CHECK-LABEL: func.func @lengths
// CHECK-COUNT-2: graph.fusion
// CHECK-SAME: reasons = ["%s: combines along N columns here and along K there (apart
func.func @lengths(%x: !matrix, %z: tensor<?x?xf32, #dyn.shape<[M, K]>>) -> !column {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %K = dyn.symbol "K" : index
  %s = graph.compute ins(%x : !matrix) -> !column {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #first]} {
  ^bb0(%p: f32):
    graph.yield %p : f32
  }
  %t = graph.compute ins(%z, %s : tensor<?x?xf32, #dyn.shape<[M, K]>>, !column) -> !column {
    iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #first, #first]
  } {
  ^bb0(%p: f32, %q: f32):
    %v = arith.mulf %p, %q : f32
    graph.yield %v : f32
  }
  return %t : !column
}

// With facts that make the lengths equal, one region.
// CHECK-LABEL: func.func @equal_lengths
// CHECK-COUNT-1: graph.fusion
// CHECK: dyn.equal [N], [K]
// CHECK-NOT: graph.fusion
// CHECK: return
func.func @equal_lengths(%x: !matrix, %z: tensor<?x?xf32, #dyn.shape<[M, K]>>) -> !column {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %K = dyn.symbol "K" : index
  dyn.equal [N], [K]
  %s = graph.compute ins(%x : !matrix) -> !column {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #first]} {
  ^bb0(%p: f32):
    graph.yield %p : f32
  }
  %t = graph.compute ins(%z, %s : tensor<?x?xf32, #dyn.shape<[M, K]>>, !column) -> !column {
    iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #first, #first]
  } {
  ^bb0(%p: f32, %q: f32):
    %v = arith.mulf %p, %q : f32
    graph.yield %v : f32
  }
  return %t : !column
}
