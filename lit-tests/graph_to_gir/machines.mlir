// Machines that nobody has: register tiles of two heights.
// RUN: sutura-opt %s --convert-graph-to-gir --split-input-file | FileCheck %s
// RUN: sutura-opt %s --convert-graph-to-gir --split-input-file --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=SAID
// SAID: a group of 4 units has 64 x 128 of the product, and 32 places of both factors in 'shared'; up to 32 rows a unit is a group
// SAID: a group of 4 units has 64 x 128 of the product, and 32 places of both factors in 'shared'; up to 32 rows a unit is a group
// SAID: a unit has a tile of 8 x 128 of the product for itself: the machine has no tile of 128 columns that takes several places at a time

// Half as high a tile would be for up to 64 rows, but more than 32 are shared; for those it is the better one, and so the only one.
// CHECK-LABEL: gir.kernel @any_contract1(
// CHECK-SAME: requires([-M + 32]) grid({{.*}} (M + 7) floordiv 8) units(1)
// CHECK-LABEL: gir.kernel @any_contract2(
// CHECK-SAME: (M + 63) floordiv 64) units(%{{.*}}, 4)
// CHECK-NOT: gir.kernel
// CHECK: rt.program @any(
target.machine @sm_80 {
  summary = "Two heights", triple = "nvptx64-nvidia-cuda", chip = "sm_80", subgroup = 32, features = "",
  launch_ns = 3000, gflops = 19500
} {
  target.space @vec {class = "reg", owner = "unit", bytes = 16384, vector = 512, align = 16}
  target.space @l1 {class = "sram", owner = "unit", bytes = 32768, gbps = 19000, align = 16, cached}
  target.space @shared {class = "sram", owner = "group", bytes = 49152, gbps = 19000, align = 16, managed}
  target.space @dram {class = "dram", owner = "all", gbps = 1935, align = 256}

  target.intrinsic @fma_16x128(%a : !gir.tile<vec, f32, [16, 1]>, %b : !gir.tile<vec, f32, [1, 128]>, %c : !gir.tile<vec, f32, [16, 128]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [16, 1]>, !gir.tile<vec, f32, [1, 128]>, !gir.tile<vec, f32, [16, 128]>
    gir.yield %r : !gir.tile<vec, f32, [16, 128]>
  }

  target.intrinsic @fma_8x128(%a : !gir.tile<vec, f32, [8, 1]>, %b : !gir.tile<vec, f32, [1, 128]>, %c : !gir.tile<vec, f32, [8, 128]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [8, 1]>, !gir.tile<vec, f32, [1, 128]>, !gir.tile<vec, f32, [8, 128]>
    gir.yield %r : !gir.tile<vec, f32, [8, 128]>
  }

  target.intrinsic @fma_16x128x4(%a : !gir.tile<vec, f32, [16, 4]>, %b : !gir.tile<vec, f32, [4, 128]>, %c : !gir.tile<vec, f32, [16, 128]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [16, 4]>, !gir.tile<vec, f32, [4, 128]>, !gir.tile<vec, f32, [16, 128]>
    gir.yield %r : !gir.tile<vec, f32, [16, 128]>
  }
}

#lhs = affine_map<(d0, d1, d2) -> (d0, d2)>
#rhs = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>

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

// A lower tile for few of the few: each has its version, that for fewer first.
// CHECK-LABEL: gir.kernel @any_contract1(
// CHECK-SAME: requires([-M + 4]) grid({{.*}} (M + 3) floordiv 4) units(1)
// CHECK-LABEL: gir.kernel @any_contract2(
// CHECK-SAME: requires([-M + 32]) grid({{.*}} (M + 15) floordiv 16) units(1)
// CHECK-LABEL: gir.kernel @any_contract3(
// CHECK-SAME: (M + 63) floordiv 64) units(%{{.*}}, 4)
// CHECK-NOT: gir.kernel
// CHECK: rt.program @any(
target.machine @sm_80 {
  summary = "Heights far apart", triple = "nvptx64-nvidia-cuda", chip = "sm_80", subgroup = 32, features = "",
  launch_ns = 3000, gflops = 19500
} {
  target.space @vec {class = "reg", owner = "unit", bytes = 16384, vector = 512, align = 16}
  target.space @l1 {class = "sram", owner = "unit", bytes = 32768, gbps = 19000, align = 16, cached}
  target.space @shared {class = "sram", owner = "group", bytes = 49152, gbps = 19000, align = 16, managed}
  target.space @dram {class = "dram", owner = "all", gbps = 1935, align = 256}

  target.intrinsic @fma_16x128(%a : !gir.tile<vec, f32, [16, 1]>, %b : !gir.tile<vec, f32, [1, 128]>, %c : !gir.tile<vec, f32, [16, 128]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [16, 1]>, !gir.tile<vec, f32, [1, 128]>, !gir.tile<vec, f32, [16, 128]>
    gir.yield %r : !gir.tile<vec, f32, [16, 128]>
  }

  target.intrinsic @fma_4x128(%a : !gir.tile<vec, f32, [4, 1]>, %b : !gir.tile<vec, f32, [1, 128]>, %c : !gir.tile<vec, f32, [4, 128]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [4, 1]>, !gir.tile<vec, f32, [1, 128]>, !gir.tile<vec, f32, [4, 128]>
    gir.yield %r : !gir.tile<vec, f32, [4, 128]>
  }

  target.intrinsic @fma_16x128x4(%a : !gir.tile<vec, f32, [16, 4]>, %b : !gir.tile<vec, f32, [4, 128]>, %c : !gir.tile<vec, f32, [16, 128]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [16, 4]>, !gir.tile<vec, f32, [4, 128]>, !gir.tile<vec, f32, [16, 128]>
    gir.yield %r : !gir.tile<vec, f32, [16, 128]>
  }
}

#lhs = affine_map<(d0, d1, d2) -> (d0, d2)>
#rhs = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>

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

// The tile that takes several places of a sum has fewer columns than the other one.
// CHECK-LABEL: gir.kernel @any_contract1(
// CHECK-SAME: (M + 7) floordiv 8) units(1)
// CHECK-NOT: gir.kernel
// CHECK: rt.program @any(
target.machine @sm_80 {
  summary = "Several places of 32 columns", triple = "nvptx64-nvidia-cuda", chip = "sm_80", subgroup = 32, features = "",
  launch_ns = 3000, gflops = 19500
} {
  target.space @vec {class = "reg", owner = "unit", bytes = 16384, vector = 512, align = 16}
  target.space @l1 {class = "sram", owner = "unit", bytes = 32768, gbps = 19000, align = 16, cached}
  target.space @shared {class = "sram", owner = "group", bytes = 49152, gbps = 19000, align = 16, managed}
  target.space @dram {class = "dram", owner = "all", gbps = 1935, align = 256}

  target.intrinsic @fma_8x128(%a : !gir.tile<vec, f32, [8, 1]>, %b : !gir.tile<vec, f32, [1, 128]>, %c : !gir.tile<vec, f32, [8, 128]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [8, 1]>, !gir.tile<vec, f32, [1, 128]>, !gir.tile<vec, f32, [8, 128]>
    gir.yield %r : !gir.tile<vec, f32, [8, 128]>
  }

  target.intrinsic @fma_8x32x4(%a : !gir.tile<vec, f32, [8, 4]>, %b : !gir.tile<vec, f32, [4, 32]>, %c : !gir.tile<vec, f32, [8, 32]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [8, 4]>, !gir.tile<vec, f32, [4, 32]>, !gir.tile<vec, f32, [8, 32]>
    gir.yield %r : !gir.tile<vec, f32, [8, 32]>
  }
}

#lhs = affine_map<(d0, d1, d2) -> (d0, d2)>
#rhs = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>

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
