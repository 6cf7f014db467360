// Few columns, or few rows, of a product whose other factor lies along the sum: vectors have places of the sum, which are added up at its end.

// DEFINE: %{regions} = attach-target{name=x86_avx512},func.func(stitch)
// RUN: sutura-opt %s --pass-pipeline='builtin.module(%{regions},schedule-regions)' | FileCheck %s --check-prefix=SCHEDULE
// RUN: sutura-opt %s --pass-pipeline='builtin.module(%{regions},convert-graph-to-gir)' --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=SAID
// RUN: sutura-opt %s --pass-pipeline='builtin.module(%{regions},convert-graph-to-gir)' | FileCheck %s
// RUN: sutura-opt %s --check-passes --pass-pipeline='builtin.module(attach-target{name=x86_avx2},func.func(stitch),convert-graph-to-gir)' -o %t
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=sm_80},func.func(stitch),convert-graph-to-gir)' | FileCheck %s --check-prefix=GPU

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#col = affine_map<(m, n) -> (n)>

!rows = tensor<?x200xf32, #dyn.shape<[N, 200]>>
!few = tensor<5x?xf32, #dyn.shape<[5, N]>>
!wide = tensor<?x?xf32, #dyn.shape<[M, K]>>
!narrow = tensor<?x13xf32, #dyn.shape<[K, 13]>>
!results = tensor<?x13xf32, #dyn.shape<[M, 13]>>

// Groups turn the right factor, which does not lie along the sum, into memory near. Three sums have vectors of 32 places, so that six vectors of
// sums hide what one waits for the one before. The last of four trips has four places, and zeros beyond: no sum asks where it ends.
// SCHEDULE-LABEL: func.func @columns
// SCHEDULE: loop d0 by 128 grid {
// SCHEDULE-NEXT: cache p:0.1 cols d2 in l1 padded {
// SCHEDULE-NEXT: loop d2 by 32 {
// SCHEDULE-NEXT: loop d1 by 3 { operand p:0.1 rows d1 cols d2 in vec padded }
// SCHEDULE: loop d0 {
// SCHEDULE-NEXT: loop d2 by 32 { place p:0 rows d1 cols d2 in vec padded columnwise }
// SCHEDULE-NEXT: place y:1 rows d1 in vec
// SAID: remark: is a product: rows (3), columns (200), sums over (100)
// SAID: remark: runs as inner products: vectors along d2, 3 sums at a time
// SAID-NOT: panels
// CHECK-LABEL: gir.kernel @columns_contract0(
// CHECK: gir.alloc owner("unit") : !gir.view<l1, f32, [4, 3, 32]>
// CHECK: gir.transpose
// CHECK: gir.for {{.*}} carry({{.*}}) : !gir.tile<vec, f32, [3, 32]>
// CHECK-NOT: gir.compare
// CHECK: gir.yield
// CHECK: gir.reduce "add" "cols" %{{.*}} : !gir.tile<vec, f32, [3, 32]>
// CHECK: gir.load
// CHECK-NEXT: gir.binary "add" %{{.*}} : !gir.tile<vec, f32, [3, 1]>
// GPU-LABEL: gir.kernel @columns_contract0(
// GPU-NOT: carry({{.*}}) : !gir.tile<vec, f32, [3, 32]>
// GPU-LABEL: rt.program @columns
func.func @columns(%a: tensor<200x100xf32>, %b: tensor<100x3xf32>, %bias: tensor<3xf32>) -> tensor<200x3xf32> {
  %p = graph.compute ins(%a, %b : tensor<200x100xf32>, tensor<100x3xf32>) -> tensor<200x3xf32> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#a, #b, #c]} {
  ^bb0(%l: f32, %r: f32):
    %m = arith.mulf %l, %r : f32
    graph.yield %m : f32
  }
  %y = graph.compute ins(%p, %bias : tensor<200x3xf32>, tensor<3xf32>) -> tensor<200x3xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #col, #id]} {
  ^bb0(%l: f32, %r: f32):
    %s = arith.addf %l, %r : f32
    graph.yield %s : f32
  }
  return %y : tensor<200x3xf32>
}

// Few rows, and a right factor that is turned: both lie along the sum, so nothing is packed. Of an unknown number of columns groups have 32.
// SCHEDULE-LABEL: func.func @rows
// SCHEDULE: version {
// SCHEDULE-NEXT: kernel {
// SCHEDULE-NEXT: loop d1 by 32 grid {
// SCHEDULE-NEXT: loop d1 {
// SCHEDULE-NEXT: loop d2 by 16 { place p:0 rows d0 cols d2 in vec padded columnwise }
// SCHEDULE-NEXT: }
// SCHEDULE-NEXT: }
// SCHEDULE-NEXT: }
// SCHEDULE-NEXT: }
// CHECK-LABEL: gir.kernel @rows_contract0(
// CHECK-NOT: gir.alloc
// CHECK: gir.reduce "add" "cols" %{{.*}} : !gir.tile<vec, f32, [5, 16]>
func.func @rows(%a: tensor<5x200xf32>, %b: !rows) -> !few {
  %p = graph.compute ins(%a, %b : tensor<5x200xf32>, !rows) -> !few {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#a, #bt, #c]} {
  ^bb0(%l: f32, %r: f32):
    %m = arith.mulf %l, %r : f32
    graph.yield %m : f32
  }
  return %p : !few
}

// The compiler turns a constant.
// SCHEDULE-LABEL: func.func @constant
// SCHEDULE: kernel {
// SCHEDULE-NEXT: loop d2 by 32 {
// SCHEDULE-NEXT: loop d1 by 4 { pack p:0.1 rows d1 cols d2 in vec padded }
// SCHEDULE: loop d2 by 32 { place p:0 rows d1 cols d2 in vec padded columnwise }
// CHECK-LABEL: gir.kernel @constant_contract0(
// CHECK-SAME: !gir.view<dram, f32, [3, 4, 32]> out
// CHECK-LABEL: gir.kernel @constant_contract1(
// CHECK-SAME: !gir.view<dram, f32, [3, 4, 32]> in
func.func @constant(%a: tensor<200x70xf32>) -> tensor<200x4xf32> {
  %b = graph.constant dense<0.5> : tensor<70x4xf32>
  %p = graph.compute ins(%a, %b : tensor<200x70xf32>, tensor<70x4xf32>) -> tensor<200x4xf32> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#a, #b, #c]} {
  ^bb0(%l: f32, %r: f32):
    %m = arith.mulf %l, %r : f32
    graph.yield %m : f32
  }
  return %p : tensor<200x4xf32>
}

// Of an unknown number of places there are versions: vectors of few places are not worth adding up, and many leave no room in the nearest
// cache.
// SAID: remark: runs as inner products where K - {{[0-9]+}} >= 0 and -K + 630 >= 0: vectors along d2, 13 sums at a time
// SCHEDULE-LABEL: func.func @open
// SCHEDULE: version when [K - {{.*}}, -K + 630] {
// SCHEDULE: columnwise
// SCHEDULE: version
// SCHEDULE: contract p:0
func.func @open(%a: !wide, %b: !narrow) -> !results {
  %p = graph.compute ins(%a, %b : !wide, !narrow) -> !results {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#a, #b, #c]} {
  ^bb0(%l: f32, %r: f32):
    %m = arith.mulf %l, %r : f32
    graph.yield %m : f32
  }
  return %p : !results
}

// The verifier takes bounds of F from the guard, which bounds a half of it.
// CHECK-LABEL: gir.kernel @halves_contract0(
// CHECK-SAME: requires([(F + 1) floordiv 2 - 32, -(F + 1) floordiv 2 + 1638])
// CHECK: gir.alloc owner("unit") : !gir.view<l1, f32, [103, 5, 16]>
func.func @halves(%f: tensor<?xf32, #dyn.shape<[F]>>, %a: tensor<?x?xf32, #dyn.shape<[M, (F + 1) floordiv 2]>>, %b: tensor<?x5xf32, #dyn.shape<[(F + 1) floordiv 2, 5]>>) -> tensor<?x5xf32, #dyn.shape<[M, 5]>> {
  %p = graph.compute ins(%a, %b : tensor<?x?xf32, #dyn.shape<[M, (F + 1) floordiv 2]>>, tensor<?x5xf32, #dyn.shape<[(F + 1) floordiv 2, 5]>>) -> tensor<?x5xf32, #dyn.shape<[M, 5]>> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#a, #b, #c]} {
  ^bb0(%l: f32, %r: f32):
    %m = arith.mulf %l, %r : f32
    graph.yield %m : f32
  }
  return %p : tensor<?x5xf32, #dyn.shape<[M, 5]>>
}

// Twenty-four rows pay from more places on than the nearest cache has room for.
// SCHEDULE-LABEL: func.func @many
// SCHEDULE-NOT: columnwise
// SCHEDULE: contract p:0
func.func @many(%a: tensor<24x?xf32, #dyn.shape<[24, K]>>, %b: tensor<300x?xf32, #dyn.shape<[300, K]>>) -> tensor<24x300xf32> {
  %p = graph.compute ins(%a, %b : tensor<24x?xf32, #dyn.shape<[24, K]>>, tensor<300x?xf32, #dyn.shape<[300, K]>>) -> tensor<24x300xf32> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#a, #bt, #c]} {
  ^bb0(%l: f32, %r: f32):
    %m = arith.mulf %l, %r : f32
    graph.yield %m : f32
  }
  return %p : tensor<24x300xf32>
}

// What follows runs number by number there, which exponentials are too dear for.
// SCHEDULE-LABEL: func.func @dear
// SCHEDULE-NOT: columnwise
// SCHEDULE: contract p:0
func.func @dear(%a: tensor<200x100xf32>, %b: tensor<100x3xf32>) -> tensor<200x3xf32> {
  %p = graph.compute ins(%a, %b : tensor<200x100xf32>, tensor<100x3xf32>) -> tensor<200x3xf32> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#a, #b, #c]} {
  ^bb0(%l: f32, %r: f32):
    %m = arith.mulf %l, %r : f32
    graph.yield %m : f32
  }
  %y = graph.compute ins(%p : tensor<200x3xf32>) -> tensor<200x3xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%l: f32):
    %e = math.exp %l : f32
    graph.yield %e : f32
  }
  return %y : tensor<200x3xf32>
}

// The other factor does not lie along the sum.
// SCHEDULE-LABEL: func.func @across
// SCHEDULE-NOT: columnwise
// SCHEDULE: contract p:0
func.func @across(%a: tensor<5x200xf32>, %b: tensor<200x300xf32>) -> tensor<5x300xf32> {
  %p = graph.compute ins(%a, %b : tensor<5x200xf32>, tensor<200x300xf32>) -> tensor<5x300xf32> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#a, #b, #c]} {
  ^bb0(%l: f32, %r: f32):
    %m = arith.mulf %l, %r : f32
    graph.yield %m : f32
  }
  return %p : tensor<5x300xf32>
}
