// Reads at places that depend on sizes are part of regions as those at numbers are.

// RUN: sutura-opt %s --stitch | FileCheck %s
// RUN: sutura-opt %s --propagate-shapes --stitch --convert-graph-to-gir --convert-gir-to-cpu --check-passes=4 --strict -o /dev/null

!past = tensor<?x?x?x8xf32, #dyn.shape<[B, H, P, 8]>>
!new = tensor<?x?x?x8xf32, #dyn.shape<[B, H, S, 8]>>
!all = tensor<?x?x?x8xf32, #dyn.shape<[B, H, P + S, 8]>>
#four = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#behind = affine_map<(d0, d1, d2, d3)[s0] -> (d0, d1, d2 - s0, d3)>

// New keys are computed where they are appended to those of the past.
// CHECK-LABEL: func.func @append
// CHECK-COUNT-1: graph.fusion(%new, %past : {{.*}}
// CHECK: sizes = #dyn.shape<[P]>
// CHECK-NOT: graph.fusion
func.func @append(%past: !past, %new: !new) -> !all {
  %B = dyn.symbol "B" : index
  %H = dyn.symbol "H" : index
  %P = dyn.symbol "P" : index
  %S = dyn.symbol "S" : index
  %key = graph.compute ins(%new : !new) -> !new {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#four, #four]} {
  ^bb0(%a: f32):
    %0 = arith.negf %a : f32
    graph.yield %0 : f32
  }
  %c = graph.compute ins(%past, %key : !past, !new) -> !all {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#four, #behind, #four],
    oob = [0.0 : f32, 0.0 : f32], sizes = #dyn.shape<[P]>
  } {
  ^bb0(%a: f32, %b: f32):
    %0 = graph.index 2 : index
    %1 = graph.size [P] : index
    %2 = arith.cmpi sge, %0, %1 : index
    %3 = arith.select %2, %b, %a : f32
    graph.yield %3 : f32
  }
  return %c : !all
}

// A region knows the sizes at which it reads: what only tells one is an input of it.
// CHECK-LABEL: func.func @told
// CHECK: graph.fusion(%x, %p : tensor<?xf32, #dyn.shape<[P + S]>>, tensor<?xf32, #dyn.shape<[P]>>)
func.func @told(%x: tensor<?xf32, #dyn.shape<[P + S]>>, %p: tensor<?xf32, #dyn.shape<[P]>>) -> tensor<?xf32, #dyn.shape<[S]>> {
  %P = dyn.symbol "P" : index
  %S = dyn.symbol "S" : index
  %y = graph.compute ins(%x : tensor<?xf32, #dyn.shape<[P + S]>>) -> tensor<?xf32, #dyn.shape<[S]>> {
    iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0)[s0] -> (d0 + s0)>, affine_map<(d0) -> (d0)>], sizes = #dyn.shape<[P]>
  } {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  return %y : tensor<?xf32, #dyn.shape<[S]>>
}

!matrix = tensor<?x?xf32, #dyn.shape<[M, N]>>
!vector = tensor<?xf32, #dyn.shape<[N]>>
#two = affine_map<(d0, d1) -> (d0, d1)>

// What begins at a size is read so where columns are combined; products read factors element by element.
// CHECK-LABEL: func.func @rows
// CHECK-COUNT-1: graph.fusion
// CHECK-NOT: graph.fusion
func.func @rows(%x: tensor<?x?xf32, #dyn.shape<[M, P + N]>>, %p: tensor<?xf32, #dyn.shape<[P]>>) -> tensor<?xf32, #dyn.shape<[M]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %P = dyn.symbol "P" : index
  %y = graph.compute ins(%x : tensor<?x?xf32, #dyn.shape<[M, P + N]>>) -> !matrix {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(d0, d1)[s0] -> (d0, d1 + s0)>, #two], sizes = #dyn.shape<[P]>
  } {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %s = graph.compute ins(%y : !matrix) -> tensor<?xf32, #dyn.shape<[M]>> {
    iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#two, affine_map<(d0, d1) -> (d0)>]
  } {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  return %s : tensor<?xf32, #dyn.shape<[M]>>
}
