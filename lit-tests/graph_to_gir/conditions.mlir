// Where a proof lacks only the equality of two sizes, the kernel requires it and the host checks it.
// RUN: sutura-opt %s --split-input-file --convert-graph-to-gir | FileCheck %s
// RUN: sutura-opt %s --split-input-file --convert-graph-to-gir --remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: sutura-opt %s --split-input-file --convert-graph-to-gir --check-passes=2 -o /dev/null
// RUN: not sutura-opt %s --split-input-file --convert-graph-to-gir="plant-fault=all" -o /dev/null 2>&1 | FileCheck %s --check-prefix=FAULT

// A store that is missing is no matter of sizes.
// FAULT: error: 'graph.fusion' op has an op that no rule lowers with a proof
// FAULT: error: 'graph.fusion' op has an op that no rule lowers with a proof

// REMARK: remark: 'graph.compute' runs where '-M + N' >= 0 and 'M - N' >= 0, which the host checks
// CHECK: gir.kernel @sum_row0({{.*}}) dims({{.*}}) requires([{{.*}}-M + N, M - N]) grid(
// CHECK: rt.program @sum({{.*}}left = #dyn.shape<[-M + N]>, left_words = "-M + N (what graph.fusion '%z' needs of sizes)", right = #dyn.shape<[0]>
// CHECK-SAME: left = #dyn.shape<[M - N]>
!x = tensor<?xf32, #dyn.shape<[N]>>
!y = tensor<?xf32, #dyn.shape<[M]>>
#id = affine_map<(d0) -> (d0)>
func.func @sum(%x: !x, %y: !y) -> !y {
  %N = dyn.symbol "N" : index
  %M = dyn.symbol "M" : index
  %z = graph.fusion(%x, %y : !x, !y) -> !y {
  ^bb0(%a: !x, %b: !y):
    %N_0 = dyn.symbol "N" : index
    %M_0 = dyn.symbol "M" : index
    %z = graph.compute ins(%a, %b : !x, !y) -> !y {iterators = #graph.iterators<[parallel]>, maps = [#id, #id, #id]} {
    ^bb0(%p: f32, %q: f32):
      %r = arith.addf %p, %q : f32
      graph.yield %r : f32
    }
    graph.yield %z : !y
  }
  return %z : !y
}

// -----

// An element of a tensor that is empty where the loop around it has no trip: nothing needs to be checked.
// CHECK-LABEL: gir.kernel @one_
// CHECK-NOT: requires([{{.*}}min
// CHECK: rt.program @one(
// CHECK-NOT: checks
!x = tensor<?xf32, #dyn.shape<[N floordiv 8]>>
!s = tensor<?xf32, #dyn.shape<[min(N floordiv 8, 1)]>>
#id = affine_map<(d0) -> (d0)>
#one = affine_map<(d0) -> (0)>
func.func @one(%x: !x, %s: !s, %n: tensor<?xi1, #dyn.shape<[N]>>) -> !x {
  %N = dyn.symbol "N" : index
  %z = graph.fusion(%x, %s : !x, !s) -> !x {
  ^bb0(%a: !x, %b: !s):
    %N_0 = dyn.symbol "N" : index
    %z = graph.compute ins(%a, %b : !x, !s) -> !x {iterators = #graph.iterators<[parallel]>, maps = [#id, #one, #id]} {
    ^bb0(%p: f32, %q: f32):
      %r = arith.addf %p, %q : f32
      graph.yield %r : f32
    }
    graph.yield %z : !x
  }
  return %z : !x
}
