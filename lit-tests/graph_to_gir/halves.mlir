// A column of the second half of a tensor is a column: such reads move no columns, and rows are read as they lie.
//
// RUN: sutura-opt %s --stitch --convert-graph-to-gir | FileCheck %s

!both = tensor<?x256xf32, #dyn.shape<[M, 256]>>
!half = tensor<?x128xf32, #dyn.shape<[M, 128]>>

// CHECK-NOT: gir.for
// CHECK: gir.kernel @main_row{{.*}} grid(%{{.*}} = M) units(1)
// CHECK: gir.load {{.*}} -> !gir.tile<l1, f32, [1, 128]>
// CHECK: gir.load {{.*}} -> !gir.tile<l1, f32, [1, 128]>
// CHECK-NOT: gir.for
func.func @main(%x: !both) -> !half {
  %M = dyn.symbol "M" : index
  %a = graph.compute ins(%x : !both) -> !half {
    iterators = #graph.iterators<[parallel, parallel]>,
    maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], oob = [0.0 : f32]
  } {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  %b = graph.compute ins(%x : !both) -> !half {
    iterators = #graph.iterators<[parallel, parallel]>,
    maps = [affine_map<(i, j) -> (i, j + 128)>, affine_map<(i, j) -> (i, j)>]
  } {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  %y = graph.compute ins(%a, %b : !half, !half) -> !half {
    iterators = #graph.iterators<[parallel, parallel]>,
    maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>]
  } {
  ^bb0(%e: f32, %f: f32):
    %v = arith.mulf %e, %f : f32
    graph.yield %v : f32
  }
  return %y : !half
}
