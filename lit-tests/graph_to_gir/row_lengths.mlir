// On a machine whose units are threads, rows of a length that only the run knows have versions by it.
// RUN: sutura-opt %s --split-input-file --pass-pipeline='builtin.module(attach-target{name=sm_80},schedule-regions)' | FileCheck %s
// RUN: sutura-opt %s --split-input-file --pass-pipeline='builtin.module(attach-target{name=gfx90a},schedule-regions)' | FileCheck %s --check-prefix=WIDE
// RUN: sutura-opt %s --split-input-file --pass-pipeline='builtin.module(attach-target{name=x86_avx512},schedule-regions)' | FileCheck %s --check-prefix=CPU
// RUN: sutura-opt %s --split-input-file --pass-pipeline='builtin.module(attach-target{name=sm_80},convert-graph-to-gir,gir-unit-threads,convert-gir-to-gpu)' | FileCheck %s --check-prefix=GPU
// RUN: sutura-opt %s --split-input-file --pass-pipeline='builtin.module(attach-target{name=sm_80},convert-graph-to-gir)' --check-passes=4 --strict -o /dev/null

// A vector for each thread of a subgroup, 16 columns for each, those of eight subgroups, of a block, and what that can keep.
// CHECK-LABEL: func.func @sums
// CHECK: version when [-N + 128] {
// CHECK: version when [-N + 512] {
// CHECK: version when [-N + 4096] {
// CHECK: version when [-N + 16384] {
// CHECK: version when [-N + 32768] {
// CHECK: version {
// WIDE-LABEL: func.func @sums
// WIDE: version when [-N + 256] {
// WIDE: version when [-N + 1024] {
// WIDE: version when [-N + 8192] {
// WIDE: version when [-N + 16384] {
// WIDE: version when [-N + 32768] {
// WIDE: version {
// CPU-LABEL: func.func @sums
// CPU-NOT: version when [-N + 128] {
// GPU: gpu.func @sums_row0({{.*}}known_block_size = array<i32: 128, 1, 1>{{.*}}rt.groups_of_block = 4
// GPU: gpu.func @sums_row1({{.*}}known_block_size = array<i32: 128, 1, 1>{{.*}}rt.groups_of_block = 4
// GPU: gpu.func @sums_row2({{.*}}known_block_size = array<i32: 256, 1, 1>
// GPU: gpu.func @sums_row3({{.*}}known_block_size = array<i32: 1024, 1, 1>
// GPU: gpu.func @sums_row4({{.*}}known_block_size = array<i32: 1024, 1, 1>
// GPU: gpu.func @sums_row5({{.*}}known_block_size = array<i32: 512, 1, 1>
!x = tensor<?x?xf32, #dyn.shape<[M, N]>>
!s = tensor<?xf32, #dyn.shape<[M]>>
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @sums(%x: !x) -> !x {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" {range = [0, 65536]} : index
  %y = graph.fusion(%x : !x) -> !x {
  ^bb0(%a: !x):
    %m = dyn.symbol "M" : index
    %n = dyn.symbol "N" {range = [0, 65536]} : index
    %s = graph.compute ins(%a : !x) -> !s {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #row]} {
    ^bb0(%p: f32):
      graph.yield %p : f32
    }
    %q = graph.compute ins(%a, %s : !x, !s) -> !x {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%p: f32, %t: f32):
      %v = arith.divf %p, %t : f32
      graph.yield %v : f32
    }
    graph.yield %q : !x
  }
  return %y : !x
}

// -----

// Rows that are known to be short, or that may be long by little, have fewer.
// CHECK-LABEL: func.func @short
// CHECK: version when [-N + 128] {
// CHECK-NOT: version when
// CHECK: version {
!x = tensor<?x?xf32, #dyn.shape<[M, N]>>
!s = tensor<?xf32, #dyn.shape<[M]>>
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @short(%x: !x) -> !s {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" {range = [1, 512]} : index
  %y = graph.fusion(%x : !x) -> !s {
  ^bb0(%a: !x):
    %m = dyn.symbol "M" : index
    %n = dyn.symbol "N" {range = [1, 512]} : index
    %s = graph.compute ins(%a : !x) -> !s {combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #row]} {
    ^bb0(%p: f32):
      graph.yield %p : f32
    }
    graph.yield %s : !s
  }
  return %y : !s
}

// -----

// CHECK-LABEL: func.func @fixed
// CHECK-NOT: version when
// CHECK: version {
// CHECK-NOT: version
!x = tensor<?x768xf32, #dyn.shape<[M, 768]>>
!s = tensor<?xf32, #dyn.shape<[M]>>
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @fixed(%x: !x) -> !s {
  %M = dyn.symbol "M" : index
  %y = graph.fusion(%x : !x) -> !s {
  ^bb0(%a: !x):
    %m = dyn.symbol "M" : index
    %s = graph.compute ins(%a : !x) -> !s {combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #row]} {
    ^bb0(%p: f32):
      graph.yield %p : f32
    }
    graph.yield %s : !s
  }
  return %y : !s
}

// -----

// A length that is computed of sizes is as good: a condition on it bounds them.
// CHECK-LABEL: func.func @halves
// CHECK: version when [-N floordiv 2 + 2621440, -N floordiv 2 + 128] {
// CHECK: version when [-N floordiv 2 + 2621440, -N floordiv 2 + 512] {
// CHECK: version when [-N floordiv 2 + 2621440, -N floordiv 2 + 4096] {
// CHECK: version when [-N floordiv 2 + 2621440, -N floordiv 2 + 16384] {
// CHECK: version when [-N floordiv 2 + 2621440, -N floordiv 2 + 32768] {
// CHECK: version when [-N floordiv 2 + 2621440] {
// CHECK-NOT: version when
// CHECK: version {
!x = tensor<?x?xf32, #dyn.shape<[M, N floordiv 2]>>
!n = tensor<?xf32, #dyn.shape<[N]>>
!s = tensor<?xf32, #dyn.shape<[M]>>
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @halves(%x: !x, %n: !n) -> !s {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %y = graph.fusion(%x : !x) -> !s {
  ^bb0(%a: !x):
    %m = dyn.symbol "M" : index
    %N_0 = dyn.symbol "N" : index
    %s = graph.compute ins(%a : !x) -> !s {combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #row]} {
    ^bb0(%p: f32):
      graph.yield %p : f32
    }
    graph.yield %s : !s
  }
  return %y : !s
}

// -----

// Rows along which nothing is combined are not kept: only those that are worth fewer threads than a block has have versions. These are no
// tiles of columns, since what is read ends elsewhere.
// CHECK-LABEL: func.func @each_place
// CHECK: version when [-N + 128] {
// CHECK: version when [-N + 512] {
// CHECK: version when [-N + 4096] {
// CHECK-NOT: version when
// CHECK: version {
// CHECK-NOT: version
!x = tensor<?x?xf32, #dyn.shape<[M, N + 1]>>
!y = tensor<?x?xf32, #dyn.shape<[M, N]>>
#id = affine_map<(d0, d1) -> (d0, d1)>
#next = affine_map<(d0, d1) -> (d0, d1 + 1)>
func.func @each_place(%x: !x) -> !y {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %y = graph.fusion(%x : !x) -> !y {
  ^bb0(%a: !x):
    %m = dyn.symbol "M" : index
    %n = dyn.symbol "N" : index
    %q = graph.compute ins(%a : !x) -> !y {iterators = #graph.iterators<[parallel, parallel]>, maps = [#next, #id]} {
    ^bb0(%p: f32):
      %i = graph.index 0 : index
      %j = graph.index 1 : index
      %k = arith.muli %i, %j : index
      %c = arith.index_cast %k : index to i32
      %f = arith.sitofp %c : i32 to f32
      %v = arith.divf %p, %f : f32
      graph.yield %v : f32
    }
    graph.yield %q : !y
  }
  return %y : !y
}
