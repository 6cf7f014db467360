// RUN: sutura-opt %s --split-input-file --convert-graph-to-gir --verify-diagnostics
// RUN: not sutura-opt %s --split-input-file --convert-graph-to-gir 2>&1 | FileCheck %s
// CHECK: it has "tile=12x32" (usual) or "tile=12x16"
// CHECK: it has "columns=all" (usual) or "columns=1024", "columns=4096"
// CHECK: has a plan with "rows=7", which this region does not have
// CHECK: it has "rows=16" (usual) or "rows=1", "rows=4"

func.func @unknown(%x: tensor<100x64xf32>, %w: tensor<64x64xf32>) -> tensor<100x64xf32> {
  // expected-error @+1 {{has a plan with "tile=7x16", which this region does not have}}
  %h = graph.fusion(%x, %w : tensor<100x64xf32>, tensor<64x64xf32>) -> tensor<100x64xf32> {kind = "contract", plan = #graph.plan<[tile = [7, 16]]>} {
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

func.func @rows(%x: tensor<100x64xf32>, %w: tensor<64x64xf32>) -> tensor<100x64xf32> {
  // expected-error @+1 {{has a plan with "tile=12x32", which this region does not have}}
  %h = graph.fusion(%x, %w : tensor<100x64xf32>, tensor<64x64xf32>) -> tensor<100x64xf32> {kind = "row", plan = #graph.plan<[tile = [12, 32]]>} {
  ^bb0(%a: tensor<100x64xf32>, %b: tensor<64x64xf32>):
    %p = graph.compute ins(%a : tensor<100x64xf32>) -> tensor<100x64xf32> {
      iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
    } {
    ^bb0(%e: f32):
      %s = arith.mulf %e, %e : f32
      graph.yield %s : f32
    }
    graph.yield %p : tensor<100x64xf32>
  }
  return %h : tensor<100x64xf32>
}

// -----

func.func @seven(%x: tensor<?x768xf32, #dyn.shape<[M, 768]>>, %v: tensor<768xf32>) -> tensor<?x768xf32, #dyn.shape<[M, 768]>> {
  %M = dyn.symbol "M" : index
  // expected-error @+1 {{has a plan with "rows=7", which this region does not have}}
  %h = graph.fusion(%x, %v : tensor<?x768xf32, #dyn.shape<[M, 768]>>, tensor<768xf32>) -> tensor<?x768xf32, #dyn.shape<[M, 768]>> {kind = "row", plan = #graph.plan<[rows = 7]>} {
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
