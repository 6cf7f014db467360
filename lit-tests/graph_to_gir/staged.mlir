// Products on a GPU: groups of four units, whose factors lie in the group's memory block by block; few rows have a version in which
// each unit has a group of its own.
// RUN: sutura-opt %s --attach-target="name=sm_80" --convert-graph-to-gir --split-input-file | FileCheck %s
// RUN: sutura-opt %s --attach-target="name=x86_avx2" --convert-graph-to-gir --split-input-file | FileCheck %s --check-prefix=CPU
// RUN: sutura-opt %s --attach-target="name=sm_80" --convert-graph-to-gir --split-input-file --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// REMARK: a group of 4 units has 64 x 128 of the product, and 32 places of both factors in 'shared'; up to 32 rows a unit is a group
// REMARK: a group of 4 units has 64 x 64 of the product, and 16 places of both factors in 'shared'
// REMARK: a unit has a tile of 8 x 64 of the product for itself: the places of a sum do not lie side by side in its left factor
// REMARK: a unit has a tile of 8 x 64 of the product for itself: it has no more than 32 rows
// REMARK: a unit has a tile of 8 x 32 of the product for itself: with 32 threads a unit none has more than a column of it
// CPU-NOT: units(%
// CPU-NOT: gir.sync

#lhs = affine_map<(d0, d1, d2) -> (d0, d2)>
#rhs = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>

// The last block of places reaches behind the end of a sum of unknown length; what it reads there is zero.
// The right factor is packed, for both versions.
// CHECK-LABEL: gir.kernel @any_contract0(
// CHECK-SAME:  grid(%{{.*}} = (N + 127) floordiv 128) units(1)
// CHECK-LABEL: gir.kernel @any_contract1(
// CHECK-SAME:  requires([-M + 32]) grid(%{{.*}} = {{.*}}, %{{.*}} = (M + 7) floordiv 8) units(1)
// CHECK-LABEL: gir.kernel @any_contract2(
// CHECK-SAME:  grid(%{{.*}} = (N + 127) floordiv 128, %[[TILE:.*]] = (M + 63) floordiv 64) units(%[[UNIT:.*]], 4)
// CHECK-DAG: %[[RIGHT:.*]] = gir.alloc owner("group") : !gir.view<shared, f32, [32, 128]>
// CHECK-DAG: %[[LEFT:.*]] = gir.alloc owner("group") : !gir.view<shared, f32, [64, 32]>
// CHECK: gir.for {{.*}} carry(%{{.*}} = %{{.*}}) : !gir.tile<vec, f32, [16, 128]>
// CHECK: gir.load %{{.*}} pad(0.000000e+00 : f32) : !gir.slice<dram, f32, [16, 32]>
// CHECK: gir.slice %[[LEFT]]
// CHECK: gir.store
// CHECK: gir.load %{{.*}} pad(0.000000e+00 : f32) : !gir.slice<dram, f32, [8, 128]>
// CHECK: gir.slice %[[RIGHT]]
// CHECK: gir.store
// CHECK: gir.sync
// CHECK: gir.for
// CHECK: gir.contract {{.*}} : !gir.tile<vec, f32, [16, 4]>, !gir.tile<vec, f32, [4, 128]>, !gir.tile<vec, f32, [16, 128]>
// CHECK: gir.sync
// CHECK-LABEL: rt.program @any(
// CHECK: select if [-M + 32]
func.func @any(%x: tensor<?x?xf32, #dyn.shape<[M, K]>>, %w: tensor<?x?xf32, #dyn.shape<[K, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %K = dyn.symbol "K" : index
  %N = dyn.symbol "N" : index
  %0 = graph.fusion(%x, %w : tensor<?x?xf32, #dyn.shape<[M, K]>>, tensor<?x?xf32, #dyn.shape<[K, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  ^bb0(%a: tensor<?x?xf32, #dyn.shape<[M, K]>>, %b: tensor<?x?xf32, #dyn.shape<[K, N]>>):
    %M_0 = dyn.symbol "M" : index
    %K_0 = dyn.symbol "K" : index
    %N_0 = dyn.symbol "N" : index
    %1 = graph.compute ins(%a, %b : tensor<?x?xf32, #dyn.shape<[M, K]>>, tensor<?x?xf32, #dyn.shape<[K, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#lhs, #rhs, #out]} {
    ^bb1(%l: f32, %r: f32):
      %m = arith.mulf %l, %r : f32
      graph.yield %m : f32
    }
    graph.yield %1 : tensor<?x?xf32, #dyn.shape<[M, N]>>
  }
  return %0 : tensor<?x?xf32, #dyn.shape<[M, N]>>
}

// -----

// Always many rows: one version. A short sum has fewer places in memory, and columns are as few as are needed.
#lhs = affine_map<(d0, d1, d2) -> (d0, d2)>
#rhs = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: gir.kernel @many_contract0(
// CHECK-SAME:  grid(%{{.*}} = 1, %{{.*}} = 8) units(%{{.*}}, 4)
// CHECK-DAG: gir.alloc owner("group") : !gir.view<shared, f32, [16, 64]>
// CHECK-DAG: gir.alloc owner("group") : !gir.view<shared, f32, [64, 16]>
// CHECK-NOT: gir.kernel
// CHECK: rt.program @many(
func.func @many(%x: tensor<512x12xf32>, %w: tensor<12x64xf32>) -> tensor<512x64xf32> {
  %0 = graph.fusion(%x, %w : tensor<512x12xf32>, tensor<12x64xf32>) -> tensor<512x64xf32> {
  ^bb0(%a: tensor<512x12xf32>, %b: tensor<12x64xf32>):
    %1 = graph.compute ins(%a, %b : tensor<512x12xf32>, tensor<12x64xf32>) -> tensor<512x64xf32> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#lhs, #rhs, #out]} {
    ^bb1(%l: f32, %r: f32):
      %m = arith.mulf %l, %r : f32
      graph.yield %m : f32
    }
    graph.yield %1 : tensor<512x64xf32>
  }
  return %0 : tensor<512x64xf32>
}

// -----

// A left factor whose sum runs over rows of its memory is read by each unit itself; so are few rows.
#turned = affine_map<(d0, d1, d2) -> (d2, d0)>
#rhs = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-NOT: gir.sync
// CHECK-NOT: units(%
// CHECK: rt.program @turned(
func.func @turned(%x: tensor<64x512xf32>, %w: tensor<64x64xf32>) -> tensor<512x64xf32> {
  %0 = graph.fusion(%x, %w : tensor<64x512xf32>, tensor<64x64xf32>) -> tensor<512x64xf32> {
  ^bb0(%a: tensor<64x512xf32>, %b: tensor<64x64xf32>):
    %1 = graph.compute ins(%a, %b : tensor<64x512xf32>, tensor<64x64xf32>) -> tensor<512x64xf32> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#turned, #rhs, #out]} {
    ^bb1(%l: f32, %r: f32):
      %m = arith.mulf %l, %r : f32
      graph.yield %m : f32
    }
    graph.yield %1 : tensor<512x64xf32>
  }
  return %0 : tensor<512x64xf32>
}

// -----

#lhs = affine_map<(d0, d1, d2) -> (d0, d2)>
#rhs = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-NOT: gir.sync
// CHECK: rt.program @few(
func.func @few(%x: tensor<32x64xf32>, %w: tensor<64x64xf32>) -> tensor<32x64xf32> {
  %0 = graph.fusion(%x, %w : tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32> {
  ^bb0(%a: tensor<32x64xf32>, %b: tensor<64x64xf32>):
    %1 = graph.compute ins(%a, %b : tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#lhs, #rhs, #out]} {
    ^bb1(%l: f32, %r: f32):
      %m = arith.mulf %l, %r : f32
      graph.yield %m : f32
    }
    graph.yield %1 : tensor<32x64xf32>
  }
  return %0 : tensor<32x64xf32>
}

// -----

#lhs = affine_map<(d0, d1, d2) -> (d0, d2)>
#rhs = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-NOT: gir.sync
// CHECK: rt.program @narrow(
func.func @narrow(%x: tensor<100x64xf32>, %w: tensor<64x32xf32>) -> tensor<100x32xf32> {
  %0 = graph.fusion(%x, %w : tensor<100x64xf32>, tensor<64x32xf32>) -> tensor<100x32xf32> {
  ^bb0(%a: tensor<100x64xf32>, %b: tensor<64x32xf32>):
    %1 = graph.compute ins(%a, %b : tensor<100x64xf32>, tensor<64x32xf32>) -> tensor<100x32xf32> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#lhs, #rhs, #out]} {
    ^bb1(%l: f32, %r: f32):
      %m = arith.mulf %l, %r : f32
      graph.yield %m : f32
    }
    graph.yield %1 : tensor<100x32xf32>
  }
  return %0 : tensor<100x32xf32>
}
