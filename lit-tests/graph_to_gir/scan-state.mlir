// Running combinations of several tensors at once, and several tensors written at the same places: loops of their own.

// RUN: sutura-opt %s --stitch --convert-graph-to-gir | FileCheck %s
// RUN: sutura-opt %s --stitch --convert-graph-to-gir --convert-gir-to-cpu=vector-bytes=32 --check-passes=2 --strict -o /dev/null

!x = tensor<?x?xf32, #dyn.shape<[M, N]>>
!k = tensor<?x?xi32, #dyn.shape<[M, N]>>
!u = tensor<?x?xf32, #dyn.shape<[L, N]>>
!l = tensor<?x?xi32, #dyn.shape<[L, N]>>

// The state goes from trip to trip, and what is made is written on the way.
// CHECK-LABEL: gir.kernel @down_loop0
// CHECK: gir.fill 1.000000e+00 : f32
// CHECK: gir.fill 0.000000e+00 : f32
// CHECK: gir.for %{{.*}} to %M carry(%[[P:.*]] = %{{.*}}, %[[Q:.*]] = %{{.*}})
// CHECK: gir.binary "mul" %[[P]]
// CHECK-COUNT-2: gir.store
// CHECK: gir.yield
func.func @down(%a: !x, %b: !x) -> (!x, !x) {
  %p:2 = graph.scan %a, %b {axis = 0 : i64, state = #graph.state<[1.0 : f32, 0.0 : f32], laws = [associative]>} : !x, !x -> !x, !x combine {
  ^bb0(%f: f32, %g: f32, %c: f32, %d: f32):
    %0 = arith.mulf %f, %c : f32
    %1 = arith.mulf %g, %c : f32
    %2 = arith.addf %1, %d : f32
    graph.yield %0, %2 : f32, f32
  }
  return %p#0, %p#1 : !x, !x
}

// Along the last dimension, backward, each element left out of its own.
// CHECK-LABEL: gir.kernel @along_loop0
func.func @along(%a: !x, %k: !k) -> (!x, !k) {
  %p, %q = graph.scan %a, %k {axis = 1 : i64, state = #graph.state<[0xFF800000 : f32, -1 : i32]>, exclusive, reverse} : !x, !k -> !x, !k combine {
  ^bb0(%x: f32, %i: i32, %y: f32, %j: i32):
    %more = arith.cmpf oge, %y, %x : f32
    %z = arith.select %more, %y, %x : f32
    %n = arith.select %more, %j, %i : i32
    graph.yield %z, %n : f32, i32
  }
  return %p, %q : !x, !k
}

// Of one dimension there are no columns.
// CHECK-LABEL: gir.kernel @line_loop0
func.func @line(%a: tensor<?xi64, #dyn.shape<[N]>>) -> tensor<?xi64, #dyn.shape<[N]>> {
  %p = graph.scan %a {axis = 0 : i64, state = #graph.state<[0 : i64], laws = [associative, commutative]>} : tensor<?xi64, #dyn.shape<[N]>> -> tensor<?xi64, #dyn.shape<[N]>> combine {
  ^bb0(%x: i64, %y: i64):
    %z = arith.xori %x, %y : i64
    graph.yield %z : i64
  }
  return %p : tensor<?xi64, #dyn.shape<[N]>>
}

// What comes before and behind is of other kernels.
// CHECK-LABEL: gir.kernel @between
func.func @between(%a: !x, %b: !x) -> !x {
  %n = graph.compute ins(%a : !x) -> !x {iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]} {
  ^bb0(%e: f32):
    %m = arith.negf %e : f32
    graph.yield %m : f32
  }
  %p:2 = graph.scan %n, %b {axis = 0 : i64, state = #graph.state<[1.0 : f32, 0.0 : f32], laws = [associative]>} : !x, !x -> !x, !x combine {
  ^bb0(%f: f32, %g: f32, %c: f32, %d: f32):
    %0 = arith.mulf %f, %c : f32
    %1 = arith.mulf %g, %c : f32
    %2 = arith.addf %1, %d : f32
    graph.yield %0, %2 : f32, f32
  }
  %s = graph.compute ins(%p#0, %p#1 : !x, !x) -> !x {iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]} {
  ^bb0(%e: f32, %f: f32):
    %m = arith.subf %e, %f : f32
    graph.yield %m : f32
  }
  return %s : !x
}

// The larger number with its mark.
// CHECK-LABEL: gir.kernel @marked_loop0
// CHECK-COUNT-2: gir.store
// CHECK-LABEL: rt.program @marked
// CHECK-COUNT-2: copy
func.func @marked(%x: !x, %k: !k, %i: tensor<?x1xi64, #dyn.shape<[L, 1]>>, %u: !u, %l: !l) -> (!x, !k) {
  %0, %1 = graph.scatter %x, %k, %i, %u, %l : !x, !k, tensor<?x1xi64, #dyn.shape<[L, 1]>>, !u, !l -> !x, !k combine {
  ^bb0(%a: f32, %m: i32, %b: f32, %n: i32):
    %more = arith.cmpf ogt, %b, %a : f32
    %c = arith.select %more, %b, %a : f32
    %o = arith.select %more, %n, %m : i32
    graph.yield %c, %o : f32, i32
  }
  return %0, %1 : !x, !k
}
