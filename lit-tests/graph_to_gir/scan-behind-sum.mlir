// A kernel that sums in one loop and combines as it goes in another one: what reads both comes in a phase behind the sum, where
// the running combination is made anew, in its own loop.

// RUN: sutura-opt %s --stitch --convert-graph-to-gir | FileCheck %s
// RUN: sutura-opt %s --stitch --convert-graph-to-gir --convert-gir-to-cpu=vector-bytes=32 --check-passes=2 --strict -o /dev/null

#abk = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#bk = affine_map<(d0, d1, d2) -> (d1, d2)>
#ab = affine_map<(d0, d1, d2) -> (d0, d1)>
#first = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
#sides = affine_map<(d0, d1, d2) -> (d0, d2)>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

!x = tensor<?x?x?xi32, #dyn.shape<[A, K, B]>>
!w = tensor<?x?xi32, #dyn.shape<[B, K]>>
!s = tensor<?x?xi32, #dyn.shape<[A, B]>>

// The loop of the sum and that of the running combination are as long as each other.
// CHECK-LABEL: gir.kernel @equal_row0
// CHECK: %[[SUM:.*]] = gir.for %{{.*}} = %{{.*}} to %K
// CHECK: gir.binary "and"
// CHECK: gir.for %{{.*}} = %{{.*}} to %K
// CHECK: %[[SCAN:.*]] = gir.binary "maxsi"
// CHECK: gir.binary "or" %[[SCAN]], %[[SUM]]
func.func @equal(%x: !x, %w: !w, %y: tensor<?x?x?xi32, #dyn.shape<[K, A, B]>>) -> !x {
  %s = graph.compute ins(%x, %w : !x, !w) -> !s {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#abk, #bk, #ab]} {
  ^bb0(%p: i32, %q: i32):
    %m = arith.andi %p, %q : i32
    graph.yield %m : i32
  }
  %c = graph.scan %y {axis = 0 : i64, combiner = #graph.combiner<max>} : tensor<?x?x?xi32, #dyn.shape<[K, A, B]>> -> tensor<?x?x?xi32, #dyn.shape<[K, A, B]>>
  %r = graph.compute ins(%c, %s : tensor<?x?x?xi32, #dyn.shape<[K, A, B]>>, !s) -> !x {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#first, #sides, #id]} {
  ^bb0(%p: i32, %q: i32):
    %o = arith.ori %p, %q : i32
    graph.yield %o : i32
  }
  return %r : !x
}

// They are not, it runs backward, and is used outside too.
// CHECK-LABEL: gir.kernel @other_row0
// CHECK: %[[SUM:.*]] = gir.for %{{.*}} = %{{.*}} to %K
// CHECK: gir.for %{{.*}} = %{{.*}} to %L
// CHECK: gir.binary "addi" %{{.*}}, %[[SUM]]
func.func @other(%x: !x, %w: !w, %y: tensor<?x?x?xi32, #dyn.shape<[L, A, B]>>) -> (tensor<?x?x?xi32, #dyn.shape<[L, A, B]>>, tensor<?x?x?xi32, #dyn.shape<[A, L, B]>>) {
  %s = graph.compute ins(%x, %w : !x, !w) -> !s {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#abk, #bk, #ab]} {
  ^bb0(%p: i32, %q: i32):
    %m = arith.andi %p, %q : i32
    graph.yield %m : i32
  }
  %c = graph.scan %y {axis = 0 : i64, combiner = #graph.combiner<add>, reverse} : tensor<?x?x?xi32, #dyn.shape<[L, A, B]>> -> tensor<?x?x?xi32, #dyn.shape<[L, A, B]>>
  %r = graph.compute ins(%c, %s : tensor<?x?x?xi32, #dyn.shape<[L, A, B]>>, !s) -> tensor<?x?x?xi32, #dyn.shape<[A, L, B]>> {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#first, #sides, #id]} {
  ^bb0(%p: i32, %q: i32):
    %o = arith.addi %p, %q : i32
    graph.yield %o : i32
  }
  return %c, %r : tensor<?x?x?xi32, #dyn.shape<[L, A, B]>>, tensor<?x?x?xi32, #dyn.shape<[A, L, B]>>
}
