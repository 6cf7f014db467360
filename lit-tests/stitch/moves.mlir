// RUN: sutura-opt %s --stitch | FileCheck %s
// RUN: sutura-opt %s --stitch --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: sutura-opt %s --stitch --convert-graph-to-gir --canonicalize --cse | FileCheck %s --check-prefix=GIR

!matrix = tensor<?x8xf32, #dyn.shape<[M, 8]>>
!half = tensor<?x4xf32, #dyn.shape<[M, 4]>>
#id = affine_map<(d0, d1) -> (d0, d1)>
#second = affine_map<(d0, d1) -> (d0, d1 + 4)>
#before = affine_map<(d0, d1) -> (d0, d1 - 1)>

// A slice of what is made needs no memory: the maker is computed at the slice's places, and of it only what is read.
// CHECK-LABEL: func.func @half
// CHECK-COUNT-1: graph.fusion
// CHECK-NOT: graph.fusion
// GIR-LABEL: gir.kernel @half_row0
// GIR: gir.load {{.*}} -> !gir.tile<l1, f32, [1, 4]>
// GIR-NEXT: gir.unary "exp"
// GIR-NOT: gir.load
// GIR: gir.store
func.func @half(%x: !matrix) -> !half {
  %M = dyn.symbol "M" : index
  %e = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %v = math.exp %a : f32
    graph.yield %v : f32
  }
  %y = graph.compute ins(%e : !matrix) -> !half {iterators = #graph.iterators<[parallel, parallel]>, maps = [#second, #id]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  return %y : !half
}

// What is read outside a value of the region is the number that the reader says, whatever the maker would compute
// there: the maker's own read gets a number by which any function can be computed.
// CHECK-LABEL: func.func @shifted
// CHECK-COUNT-1: graph.fusion
// CHECK-NOT: graph.fusion
// GIR-LABEL: gir.kernel @shifted_row0
// GIR: gir.load {{.*}} pad(1.000000e+00 : f32) : !gir.slice<dram, f32, [1, 8]>
// GIR: gir.ternary "select"
func.func @shifted(%x: !matrix) -> !matrix {
  %M = dyn.symbol "M" : index
  %n = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %v = arith.negf %a : f32
    graph.yield %v : f32
  }
  %y = graph.compute ins(%n, %n : !matrix, !matrix) -> !matrix {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #before, #id], oob = [unit, 2.0 : f32]
  } {
  ^bb0(%a: f32, %b: f32):
    %v = arith.subf %a, %b : f32
    graph.yield %v : f32
  }
  return %y : !matrix
}

// What is combined from others is not computed again for a slice of it.
// CHECK-LABEL: func.func @combined
// CHECK: graph.fusion
// CHECK: graph.fusion
// CHECK-SAME: reasons = ["%s: reads %s otherwise than element by element, and it is combined from others (apart
func.func @combined(%x: tensor<?x8x16xf32, #dyn.shape<[M, 8, 16]>>) -> !half {
  %M = dyn.symbol "M" : index
  %s = graph.compute ins(%x : tensor<?x8x16xf32, #dyn.shape<[M, 8, 16]>>) -> !matrix {
    combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>,
    maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>]
  } {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  // REMARK: remark: not stitched with %s: reads %s otherwise than element by element
  %y = graph.compute ins(%s : !matrix) -> !half {iterators = #graph.iterators<[parallel, parallel]>, maps = [#second, #id]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  return %y : !half
}
