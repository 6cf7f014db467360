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
  %y = graph.compute ins(%x, %x : !both, !both) -> !half {
    iterators = ["parallel", "parallel"],
    maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j + 128)>, affine_map<(i, j) -> (i, j)>]
  } {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  return %y : !half
}
