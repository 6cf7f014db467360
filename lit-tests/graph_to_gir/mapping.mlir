// A region is mapped as its attribute says, whatever is predicted.

// RUN: sutura-opt %s --split-input-file --convert-graph-to-gir | FileCheck %s
// RUN: sutura-opt %s --split-input-file --pass-pipeline='builtin.module(attach-target{name=x86_avx512},convert-graph-to-gir{search=predict})' | FileCheck %s

// CHECK-LABEL: gir.kernel @narrow_contract
// CHECK: gir.contract {{.*}} !gir.tile<vec, f32, [12, 16]>
// CHECK-NOT: [12, 32]
// CHECK: rt.program @narrow
func.func @narrow(%x: tensor<100x64xf32>, %w: tensor<64x64xf32>) -> tensor<100x64xf32> {
  %h = graph.fusion(%x, %w : tensor<100x64xf32>, tensor<64x64xf32>) -> tensor<100x64xf32> {kind = "contract", plan = #graph.plan<[tile = [12, 16]]>} {
  ^bb0(%a: tensor<100x64xf32>, %b: tensor<64x64xf32>):
    %p = graph.compute ins(%a, %b : tensor<100x64xf32>, tensor<64x64xf32>) -> tensor<100x64xf32> {
      iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>,
      maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>]
    } {
    ^bb0(%e: f32, %f: f32):
      %m = arith.mulf %e, %f : f32
      graph.yield %m : f32
    }
    graph.yield %p : tensor<100x64xf32>
  }
  return %h : tensor<100x64xf32>
}

// -----

// CHECK-LABEL: gir.kernel @usual_contract
// CHECK: gir.contract {{.*}} !gir.tile<vec, f32, [12, 32]>
// CHECK-NOT: [12, 16]
// CHECK: rt.program @usual
func.func @usual(%x: tensor<100x64xf32>, %w: tensor<64x64xf32>) -> tensor<100x64xf32> {
  %h = graph.fusion(%x, %w : tensor<100x64xf32>, tensor<64x64xf32>) -> tensor<100x64xf32> {kind = "contract", plan = #graph.plan<[tile = [12, 32]]>} {
  ^bb0(%a: tensor<100x64xf32>, %b: tensor<64x64xf32>):
    %p = graph.compute ins(%a, %b : tensor<100x64xf32>, tensor<64x64xf32>) -> tensor<100x64xf32> {
      iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>,
      maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>]
    } {
    ^bb0(%e: f32, %f: f32):
      %m = arith.mulf %e, %f : f32
      graph.yield %m : f32
    }
    graph.yield %p : tensor<100x64xf32>
  }
  return %h : tensor<100x64xf32>
}

// -----

// CHECK-LABEL: gir.kernel @columns_row
// CHECK-SAME: grid(%{{.*}} = (M*N + 1023) floordiv 1024)
// CHECK: !gir.tile<{{.*}}, f32, [1, 1024]>
// CHECK: rt.program @columns
func.func @columns(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %h = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {kind = "row", plan = #graph.plan<[columns = 1024]>} {
  ^bb0(%a: tensor<?x?xf32, #dyn.shape<[M, N]>>):
    %m = dyn.symbol "M" : index
    %n = dyn.symbol "N" : index
    %p = graph.compute ins(%a : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
      iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
    } {
    ^bb0(%e: f32):
      %s = arith.mulf %e, %e : f32
      graph.yield %s : f32
    }
    graph.yield %p : tensor<?x?xf32, #dyn.shape<[M, N]>>
  }
  return %h : tensor<?x?xf32, #dyn.shape<[M, N]>>
}

// -----

// A group loops over the rows that it makes: of 5 planes of 7 x 70 there are 5 x 2 groups.
// CHECK-LABEL: gir.kernel @inner_loop
// CHECK-SAME: grid(%{{.*}} = 5, %{{.*}} = 2)
// CHECK: gir.for
// CHECK: rt.program @inner
func.func @inner(%x: tensor<5x7x70x3xf32>) -> tensor<5x7x70xf32> {
  %h = graph.fusion(%x : tensor<5x7x70x3xf32>) -> tensor<5x7x70xf32> {kind = "loop", plan = #graph.plan<[inner = 1]>} {
  ^bb0(%a: tensor<5x7x70x3xf32>):
    %p = graph.compute ins(%a : tensor<5x7x70x3xf32>) -> tensor<5x7x70xf32> {
      iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>,
      maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>]
    } {
    ^bb0(%e: f32):
      graph.yield %e : f32
    }
    graph.yield %p : tensor<5x7x70xf32>
  }
  return %h : tensor<5x7x70xf32>
}

// -----

// Rows of a group: as many as the mapping says, for few rows as well.
// CHECK-LABEL: gir.kernel @four_row0
// CHECK-SAME: grid(%{{.*}} = (M + 3) floordiv 4) units(1)
// CHECK: gir.for
// CHECK-NOT: gir.kernel
// CHECK: rt.program @four
func.func @four(%x: tensor<?x768xf32, #dyn.shape<[M, 768]>>, %v: tensor<768xf32>) -> tensor<?x768xf32, #dyn.shape<[M, 768]>> {
  %M = dyn.symbol "M" : index
  %h = graph.fusion(%x, %v : tensor<?x768xf32, #dyn.shape<[M, 768]>>, tensor<768xf32>) -> tensor<?x768xf32, #dyn.shape<[M, 768]>> {kind = "row", plan = #graph.plan<[rows = 4]>} {
  ^bb0(%a: tensor<?x768xf32, #dyn.shape<[M, 768]>>, %b: tensor<768xf32>):
    %m = dyn.symbol "M" : index
    %p = graph.compute ins(%a, %b : tensor<?x768xf32, #dyn.shape<[M, 768]>>, tensor<768xf32>) -> tensor<?x768xf32, #dyn.shape<[M, 768]>> {
      iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>]
    } {
    ^bb0(%e: f32, %f: f32):
      %s = arith.mulf %e, %f : f32
      graph.yield %s : f32
    }
    graph.yield %p : tensor<?x768xf32, #dyn.shape<[M, 768]>>
  }
  return %h : tensor<?x768xf32, #dyn.shape<[M, 768]>>
}

// -----

// CHECK-LABEL: gir.kernel @one_row0
// CHECK-SAME: grid(%{{.*}} = M) units(1)
// CHECK-NOT: gir.for
// CHECK-NOT: gir.kernel
// CHECK: rt.program @one
func.func @one(%x: tensor<?x768xf32, #dyn.shape<[M, 768]>>, %v: tensor<768xf32>) -> tensor<?x768xf32, #dyn.shape<[M, 768]>> {
  %M = dyn.symbol "M" : index
  %h = graph.fusion(%x, %v : tensor<?x768xf32, #dyn.shape<[M, 768]>>, tensor<768xf32>) -> tensor<?x768xf32, #dyn.shape<[M, 768]>> {kind = "row", plan = #graph.plan<[rows = 1]>} {
  ^bb0(%a: tensor<?x768xf32, #dyn.shape<[M, 768]>>, %b: tensor<768xf32>):
    %m = dyn.symbol "M" : index
    %p = graph.compute ins(%a, %b : tensor<?x768xf32, #dyn.shape<[M, 768]>>, tensor<768xf32>) -> tensor<?x768xf32, #dyn.shape<[M, 768]>> {
      iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>]
    } {
    ^bb0(%e: f32, %f: f32):
      %s = arith.mulf %e, %f : f32
      graph.yield %s : f32
    }
    graph.yield %p : tensor<?x768xf32, #dyn.shape<[M, 768]>>
  }
  return %h : tensor<?x768xf32, #dyn.shape<[M, 768]>>
}

// -----

// What is usual has a version for few rows.
// CHECK-LABEL: gir.kernel @sixteen_row0
// CHECK-SAME: grid(%{{.*}} = M) units(1)
// CHECK-LABEL: gir.kernel @sixteen_row1
// CHECK-SAME: grid(%{{.*}} = (M + 15) floordiv 16) units(1)
// CHECK: rt.program @sixteen
func.func @sixteen(%x: tensor<?x768xf32, #dyn.shape<[M, 768]>>, %v: tensor<768xf32>) -> tensor<?x768xf32, #dyn.shape<[M, 768]>> {
  %M = dyn.symbol "M" : index
  %h = graph.fusion(%x, %v : tensor<?x768xf32, #dyn.shape<[M, 768]>>, tensor<768xf32>) -> tensor<?x768xf32, #dyn.shape<[M, 768]>> {kind = "row", plan = #graph.plan<[rows = 16]>} {
  ^bb0(%a: tensor<?x768xf32, #dyn.shape<[M, 768]>>, %b: tensor<768xf32>):
    %m = dyn.symbol "M" : index
    %p = graph.compute ins(%a, %b : tensor<?x768xf32, #dyn.shape<[M, 768]>>, tensor<768xf32>) -> tensor<?x768xf32, #dyn.shape<[M, 768]>> {
      iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>]
    } {
    ^bb0(%e: f32, %f: f32):
      %s = arith.mulf %e, %f : f32
      graph.yield %s : f32
    }
    graph.yield %p : tensor<?x768xf32, #dyn.shape<[M, 768]>>
  }
  return %h : tensor<?x768xf32, #dyn.shape<[M, 768]>>
}
