// RUN: sutura-opt %s --stitch --convert-graph-to-gir | FileCheck %s
// RUN: sutura-opt %s --stitch --convert-graph-to-gir | sutura-opt --convert-graph-to-gir | FileCheck %s
// RUN: sutura-opt %s --stitch --convert-graph-to-gir --threads=1 -o %t.one
// RUN: sutura-opt %s --stitch --convert-graph-to-gir --threads=8 -o %t.many
// RUN: diff %t.one %t.many
// RUN: sutura-opt %s --stitch --convert-graph-to-gir --pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=STATS
// RUN: sutura-opt %s --stitch --convert-graph-to-gir=resident-columns=64 | FileCheck %s --check-prefix=SHORT

!matrix = tensor<?x?xf32, #dyn.shape<[M, N]>>
!column = tensor<?x1xf32, #dyn.shape<[M, 1]>>
#id = affine_map<(d0, d1) -> (d0, d1)>
#first = affine_map<(d0, d1) -> (d0, 0)>

// STATS: ConvertGraphToGir
// STATS: (S) 8 num-kernels
// STATS: (S) 7 num-launches
// STATS: (S) 1 num-shared

// Two versions: rows that stay in the cache between the passes over them, under a guard, and rows of any length, in tiles:
// sums of tiles, their sum, and what needs it.
// CHECK-LABEL: gir.kernel @exp_over_sum_row0
// CHECK-SAME: requires([-N + 16384])
// CHECK-SAME: grid(%[[I:.*]] = M) units(1)
// CHECK: %[[T:.*]] = gir.load {{.*}} -> !gir.tile<l1, f32, [1, N]>
// CHECK-NEXT: %[[E:.*]] = gir.unary "exp" %[[T]]
// CHECK-NEXT: %[[S:.*]] = gir.reduce "add" "cols" %[[E]]
// CHECK-NEXT: %[[B:.*]] = gir.broadcast %[[S]] like %[[E]]
// CHECK-NEXT: %[[Y:.*]] = gir.binary "div" %[[E]], %[[B]]
// CHECK: gir.store %[[Y]]
// CHECK-NOT: gir.load
// CHECK-LABEL: gir.kernel @exp_over_sum_row1
// CHECK-NOT: requires
// CHECK-SAME: [(N + 16383) floordiv 16384, M, 1]> out)
// CHECK-SAME: grid(%{{.*}} = M, %{{.*}} = (N + 16383) floordiv 16384) units(1)
// CHECK-LABEL: rt.program @exp_over_sum
// CHECK: %[[P:.*]] = alloc : !rt.buffer<f32, [(N + 16383) floordiv 16384, M, 1]>
// CHECK: select if [-N + 16384] {
// CHECK-NEXT: launch @exp_over_sum_row0(%{{.*}}, %{{.*}}) dims [M, N] work [
// CHECK-NEXT: }, {
// CHECK-NEXT: launch @exp_over_sum_row1(%{{.*}}, %[[P]])
// CHECK-NEXT: launch @exp_over_sum_row2(%[[P]],
// CHECK-NEXT: launch @exp_over_sum_row3
// SHORT: requires([-N + 64])
func.func @exp_over_sum(%x: !matrix) -> !matrix {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %e = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %v = math.exp %a : f32
    graph.yield %v : f32
  }
  %s = graph.compute ins(%e : !matrix) -> !column {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #first]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %y = graph.compute ins(%e, %s : !matrix, !column) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #id]} {
  ^bb0(%a: f32, %b: f32):
    %v = arith.divf %a, %b : f32
    graph.yield %v : f32
  }
  return %y : !matrix
}

// Bounded rows need one version, beside that for a likely size. What is known of a size goes into the kernel's header.
// CHECK-LABEL: gir.kernel @bounded_row0
// CHECK-SAME: dims(%M : [0, 2147483647], %N : [128, 128] div 8)
// CHECK-NOT: requires
// CHECK-LABEL: gir.kernel @bounded_row1
// CHECK-SAME: dims(%M : [0, 2147483647], %N : [8, 512] div 8)
// CHECK-NOT: requires
// CHECK-LABEL: rt.program @bounded
// CHECK-SAME: symbols(M : [0, 2147483647], N : [8, 512] div 8 likely [128])
// CHECK: select if [N - 128, -N + 128] {
// CHECK-NEXT: launch @bounded_row0
// CHECK-NEXT: }, {
// CHECK-NEXT: launch @bounded_row1
// SHORT: gir.kernel @bounded_row{{[0-9]+}}{{.*}}requires([-N + 64])
func.func @bounded(%x: !matrix) -> !matrix {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" {range = [8, 512], div = 8, likely = [128]} : index
  %e = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %v = math.exp %a : f32
    graph.yield %v : f32
  }
  %s = graph.compute ins(%e : !matrix) -> !column {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #first]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %y = graph.compute ins(%e, %s : !matrix, !column) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #id]} {
  ^bb0(%a: f32, %b: f32):
    %v = arith.divf %a, %b : f32
    graph.yield %v : f32
  }
  return %y : !matrix
}

// Ops on all elements are one row of tiles, and equal regions share a kernel.
// CHECK-LABEL: gir.kernel @flat_row0
// CHECK-SAME: grid(%{{.*}} = (M*N + 4095) floordiv 4096)
// CHECK-NOT: gir.kernel
// CHECK-LABEL: rt.program @flat
// CHECK: %[[T:.*]] = alloc : !rt.buffer<f32, [M, N]>
// CHECK-NEXT: launch @flat_row0(%{{.*}}, %[[T]]) dims [M, N]
// CHECK-NEXT: %[[V:.*]] = view %[[T]]
// CHECK-NEXT: %[[W:.*]] = view %[[V]]
// CHECK-NEXT: launch @flat_row0(%[[W]], %arg1) dims [M, N]
func.func @flat(%x: !matrix) -> !matrix {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %0 = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %v = math.exp %a : f32
    graph.yield %v : f32
  }
  %1 = graph.reshape %0 : !matrix -> tensor<?xf32, #dyn.shape<[M*N]>>
  %2 = graph.reshape %1 : tensor<?xf32, #dyn.shape<[M*N]>> -> !matrix
  %3 = graph.compute ins(%2 : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %v = math.exp %a : f32
    graph.yield %v : f32
  }
  return %3 : !matrix
}

// Sizes that are constants, one of them zero.
// CHECK-LABEL: gir.kernel @static_row0
// CHECK-SAME: !gir.view<dram, f32, [0, 8]> in
// CHECK-SAME: grid(%{{.*}} = 0) units(1)
// CHECK-LABEL: rt.program @static
func.func @static(%x: tensor<0x8xf32>) -> tensor<0x1xf32> {
  %s = graph.compute ins(%x : tensor<0x8xf32>) -> tensor<0x1xf32> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #first]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  return %s : tensor<0x1xf32>
}
