// RUN: sutura-opt %s --stitch --remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=FAMILY
// RUN: sutura-opt %s --stitch | FileCheck %s
// RUN: sutura-opt %s --stitch=planner=greedy | FileCheck %s
// FAMILY: a region of the family 'row' with 32 ops
// FAMILY: a region of the family 'row' with 4 ops

// Code of a region grows faster than what makes it long: there are limits, and a region's reasons name them.

!matrix = tensor<3x8xf32>
!column = tensor<3x1xf32>
#id = affine_map<(d0, d1) -> (d0, d1)>
#first = affine_map<(d0, d1) -> (d0, 0)>

// Eighteen combinations, each of the row that the one before has changed, are two regions.
// CHECK-LABEL: func.func @combinations
// CHECK: %[[FIRST:.*]] = graph.fusion
// CHECK: graph.fusion(%[[FIRST]]
// CHECK-SAME: {reasons = [{{.*}}it would have {{[0-9]+}} combinations each of which waits for the one before, of which 16 are allowed
// CHECK-NOT: graph.fusion
func.func @combinations(%x0: !matrix) -> !matrix {
  %m0 = graph.compute ins(%x0 : !matrix) -> !column {
    iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #first]
  } {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %x1 = graph.compute ins(%x0, %m0 : !matrix, !column) -> !matrix {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #id]
  } {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    graph.yield %0 : f32
  }
  %m1 = graph.compute ins(%x1 : !matrix) -> !column {
    iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #first]
  } {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %x2 = graph.compute ins(%x1, %m1 : !matrix, !column) -> !matrix {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #id]
  } {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    graph.yield %0 : f32
  }
  %m2 = graph.compute ins(%x2 : !matrix) -> !column {
    iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #first]
  } {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %x3 = graph.compute ins(%x2, %m2 : !matrix, !column) -> !matrix {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #id]
  } {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    graph.yield %0 : f32
  }
  %m3 = graph.compute ins(%x3 : !matrix) -> !column {
    iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #first]
  } {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %x4 = graph.compute ins(%x3, %m3 : !matrix, !column) -> !matrix {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #id]
  } {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    graph.yield %0 : f32
  }
  %m4 = graph.compute ins(%x4 : !matrix) -> !column {
    iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #first]
  } {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %x5 = graph.compute ins(%x4, %m4 : !matrix, !column) -> !matrix {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #id]
  } {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    graph.yield %0 : f32
  }
  %m5 = graph.compute ins(%x5 : !matrix) -> !column {
    iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #first]
  } {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %x6 = graph.compute ins(%x5, %m5 : !matrix, !column) -> !matrix {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #id]
  } {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    graph.yield %0 : f32
  }
  %m6 = graph.compute ins(%x6 : !matrix) -> !column {
    iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #first]
  } {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %x7 = graph.compute ins(%x6, %m6 : !matrix, !column) -> !matrix {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #id]
  } {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    graph.yield %0 : f32
  }
  %m7 = graph.compute ins(%x7 : !matrix) -> !column {
    iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #first]
  } {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %x8 = graph.compute ins(%x7, %m7 : !matrix, !column) -> !matrix {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #id]
  } {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    graph.yield %0 : f32
  }
  %m8 = graph.compute ins(%x8 : !matrix) -> !column {
    iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #first]
  } {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %x9 = graph.compute ins(%x8, %m8 : !matrix, !column) -> !matrix {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #id]
  } {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    graph.yield %0 : f32
  }
  %m9 = graph.compute ins(%x9 : !matrix) -> !column {
    iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #first]
  } {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %x10 = graph.compute ins(%x9, %m9 : !matrix, !column) -> !matrix {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #id]
  } {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    graph.yield %0 : f32
  }
  %m10 = graph.compute ins(%x10 : !matrix) -> !column {
    iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #first]
  } {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %x11 = graph.compute ins(%x10, %m10 : !matrix, !column) -> !matrix {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #id]
  } {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    graph.yield %0 : f32
  }
  %m11 = graph.compute ins(%x11 : !matrix) -> !column {
    iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #first]
  } {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %x12 = graph.compute ins(%x11, %m11 : !matrix, !column) -> !matrix {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #id]
  } {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    graph.yield %0 : f32
  }
  %m12 = graph.compute ins(%x12 : !matrix) -> !column {
    iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #first]
  } {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %x13 = graph.compute ins(%x12, %m12 : !matrix, !column) -> !matrix {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #id]
  } {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    graph.yield %0 : f32
  }
  %m13 = graph.compute ins(%x13 : !matrix) -> !column {
    iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #first]
  } {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %x14 = graph.compute ins(%x13, %m13 : !matrix, !column) -> !matrix {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #id]
  } {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    graph.yield %0 : f32
  }
  %m14 = graph.compute ins(%x14 : !matrix) -> !column {
    iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #first]
  } {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %x15 = graph.compute ins(%x14, %m14 : !matrix, !column) -> !matrix {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #id]
  } {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    graph.yield %0 : f32
  }
  %m15 = graph.compute ins(%x15 : !matrix) -> !column {
    iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #first]
  } {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %x16 = graph.compute ins(%x15, %m15 : !matrix, !column) -> !matrix {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #id]
  } {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    graph.yield %0 : f32
  }
  %m16 = graph.compute ins(%x16 : !matrix) -> !column {
    iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #first]
  } {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %x17 = graph.compute ins(%x16, %m16 : !matrix, !column) -> !matrix {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #id]
  } {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    graph.yield %0 : f32
  }
  %m17 = graph.compute ins(%x17 : !matrix) -> !column {
    iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #first]
  } {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %x18 = graph.compute ins(%x17, %m17 : !matrix, !column) -> !matrix {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #id]
  } {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    graph.yield %0 : f32
  }
  return %x18 : !matrix
}

// Thirty-three ops of one input, all of which are returned, are two regions.
// CHECK-LABEL: func.func @outputs
// CHECK-COUNT-2: graph.fusion
// CHECK-NOT: graph.fusion
// CHECK: return
func.func @outputs(%x: !matrix) -> (!matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix) {
  %y0 = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 0.0 : f32
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  %y1 = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 1.0 : f32
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  %y2 = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 2.0 : f32
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  %y3 = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 3.0 : f32
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  %y4 = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 4.0 : f32
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  %y5 = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 5.0 : f32
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  %y6 = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 6.0 : f32
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  %y7 = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 7.0 : f32
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  %y8 = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 8.0 : f32
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  %y9 = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 9.0 : f32
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  %y10 = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 10.0 : f32
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  %y11 = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 11.0 : f32
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  %y12 = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 12.0 : f32
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  %y13 = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 13.0 : f32
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  %y14 = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 14.0 : f32
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  %y15 = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 15.0 : f32
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  %y16 = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 16.0 : f32
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  %y17 = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 17.0 : f32
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  %y18 = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 18.0 : f32
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  %y19 = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 19.0 : f32
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  %y20 = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 20.0 : f32
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  %y21 = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 21.0 : f32
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  %y22 = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 22.0 : f32
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  %y23 = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 23.0 : f32
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  %y24 = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 24.0 : f32
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  %y25 = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 25.0 : f32
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  %y26 = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 26.0 : f32
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  %y27 = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 27.0 : f32
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  %y28 = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 28.0 : f32
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  %y29 = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 29.0 : f32
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  %y30 = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 30.0 : f32
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  %y31 = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 31.0 : f32
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  %y32 = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 32.0 : f32
    %0 = arith.addf %a, %c : f32
    graph.yield %0 : f32
  }
  return %y0, %y1, %y2, %y3, %y4, %y5, %y6, %y7, %y8, %y9, %y10, %y11, %y12, %y13, %y14, %y15, %y16, %y17, %y18, %y19, %y20, %y21, %y22, %y23, %y24, %y25, %y26, %y27, %y28, %y29, %y30, %y31, %y32 : !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix
}
