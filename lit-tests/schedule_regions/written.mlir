#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
// The pass writes what the lowering would follow: the kernels are the same with and without it.
// RUN: sutura-opt %s --schedule-regions | FileCheck %s
// RUN: sutura-opt %s --convert-graph-to-gir -o %t.direct
// RUN: sutura-opt %s --schedule-regions --convert-graph-to-gir -o %t.scheduled
// RUN: diff %t.direct %t.scheduled
// RUN: sutura-opt %s --schedule-regions | sutura-opt --schedule-regions --convert-graph-to-gir -o %t.again
// RUN: diff %t.direct %t.again
// RUN: sutura-opt %s --schedule-regions=resident-columns=64 | FileCheck %s --check-prefix=SHORT
// RUN: sutura-opt %s --schedule-regions --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARKS
// RUN: sutura-opt %s --schedule-regions --pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=STATS

// STATS: (S) 3 num-scheduled
// STATS: (S) 0 num-without

// Short rows are groups; long ones are cut into tiles, whose sums another kernel joins.
// CHECK-LABEL: func.func @softmax
// CHECK: graph.fusion{{.*}} {schedule = #schedule.tree<
// CHECK-NEXT: version when [-N + 16384] {
// CHECK-NEXT: kernel {
// CHECK-NEXT: loop d0 grid {
// CHECK-NEXT: place e:0 cols d1 in l1
// CHECK-NEXT: place s:1 cols d1 in l1
// CHECK-NEXT: place q:2 cols d1 in l1
// CHECK: version {
// CHECK: loop d1 by 16384 grid {
// CHECK: join s:1
// CHECK: place q:2 cols d1 in l1
// SHORT: version when [-N + 64] {
// SHORT: loop d1 by 64 grid {
// REMARKS: remark: has its schedule as attribute
func.func @softmax(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  ^bb0(%a: tensor<?x?xf32, #dyn.shape<[M, N]>>):
    %M = dyn.symbol "M" : index
    %N = dyn.symbol "N" : index
    %e = graph.compute ins(%a : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.exp %p : f32
      graph.yield %v : f32
    }
    %s = graph.compute ins(%e : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?xf32, #dyn.shape<[M]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #row]} {
    ^bb0(%p: f32):
      graph.yield %p : f32
    }
    %q = graph.compute ins(%e, %s : tensor<?x?xf32, #dyn.shape<[M, N]>>, tensor<?xf32, #dyn.shape<[M]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%p: f32, %t: f32):
      %v = arith.divf %p, %t : f32
      graph.yield %v : f32
    }
    graph.yield %q : tensor<?x?xf32, #dyn.shape<[M, N]>>
  }
  return %y : tensor<?x?xf32, #dyn.shape<[M, N]>>
}

// CHECK-LABEL: func.func @product
// CHECK: version {
// CHECK: loop d0 by 192 grid {
// CHECK-NEXT: cache p:0.1 cols d1 in l1 padded {
// CHECK-NEXT: loop d2 { operand p:0.1 cols d1 in vec padded }
// CHECK: loop d0 by 12 {
// CHECK-NEXT: loop d2 { contract p:0 rows d0 cols d1 in vec }
func.func @product(%x: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %w: tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {
  %M = dyn.symbol "M" : index
  %y = graph.fusion(%x, %w : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {
  ^bb0(%a: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %b: tensor<24x40xf32>):
    %M = dyn.symbol "M" : index
    %p = graph.compute ins(%a, %b : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%l: f32, %r: f32):
      %v = arith.mulf %l, %r : f32
      graph.yield %v : f32
    }
    graph.yield %p : tensor<?x40xf32, #dyn.shape<[M, 40]>>
  }
  return %y : tensor<?x40xf32, #dyn.shape<[M, 40]>>
}

// A region keeps the schedule that it has.
// CHECK-LABEL: func.func @own
// CHECK: schedule = #schedule.tree<
// CHECK-NEXT: version {
// CHECK-NEXT: kernel {
// CHECK-NEXT: loop d0 grid {
// CHECK-NOT: version
func.func @own(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }
  >} {
  ^bb0(%a: tensor<?x?xf32, #dyn.shape<[M, N]>>):
    %M = dyn.symbol "M" : index
    %N = dyn.symbol "N" : index
    %e = graph.compute ins(%a : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.exp %p : f32
      graph.yield %v : f32
    }
    %s = graph.compute ins(%e : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?xf32, #dyn.shape<[M]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #row]} {
    ^bb0(%p: f32):
      graph.yield %p : f32
    }
    %q = graph.compute ins(%e, %s : tensor<?x?xf32, #dyn.shape<[M, N]>>, tensor<?xf32, #dyn.shape<[M]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%p: f32, %t: f32):
      %v = arith.divf %p, %t : f32
      graph.yield %v : f32
    }
    graph.yield %q : tensor<?x?xf32, #dyn.shape<[M, N]>>
  }
  return %y : tensor<?x?xf32, #dyn.shape<[M, N]>>
}

// An op by itself.
// CHECK-LABEL: func.func @loop
// CHECK: schedule = #schedule.tree<
// CHECK: loop d0 grid { place s:0 in vec padded }
func.func @loop(%x: tensor<8x8xf32>) -> tensor<8xf32> {
  %y = graph.fusion(%x : tensor<8x8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8x8xf32>):
    %0 = graph.compute ins(%a : tensor<8x8xf32>) -> tensor<8xf32> {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0, d0)>, affine_map<(d0) -> (d0)>]} {
    ^bb0(%p: f32):
      graph.yield %p : f32
    }
    graph.yield %0 : tensor<8xf32>
  }
  return %y : tensor<8xf32>
}
