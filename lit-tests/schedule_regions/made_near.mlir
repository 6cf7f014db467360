// What a factor is made from runs where it is brought near: where a group copies panels, and where units share rows, which read ahead what
// they make them of.
// RUN: sutura-opt %s --attach-target="name=sm_80" --convert-graph-to-gir --check-passes --strict --split-input-file | FileCheck %s

// CHECK-LABEL: gir.kernel @panels_contract0(
// CHECK: %[[PANELS:.*]] = gir.alloc owner("unit") : !gir.view<l1, f32, [24, 32]>
// CHECK: gir.for
// CHECK: gir.unary "cos"
// CHECK: gir.slice %[[PANELS]]
// CHECK: gir.store
// CHECK: gir.contract
#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @panels(%x: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %w: tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {
  %M = dyn.symbol "M" : index
  %y = graph.fusion(%x, %w : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {schedule = #schedule.tree<
    version { kernel { loop d1 by 32 grid { cache p:1.1 cols d1 in l1 padded { loop d0 { place e:0 cols d1 in vec padded operand p:1.1 cols d1 in vec padded } } loop d2 by 12 { loop d0 { contract p:1 rows d2 cols d1 in vec padded } } } } }
  >} {
  ^bb0(%a: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %b: tensor<24x64xf32>):
    %M = dyn.symbol "M" : index
    %e = graph.compute ins(%b : tensor<24x64xf32>) -> tensor<24x64xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.cos %p : f32
      graph.yield %v : f32
    }
    %p = graph.compute ins(%a, %e : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%l: f32, %r: f32):
      %v = arith.mulf %l, %r : f32
      graph.yield %v : f32
    }
    graph.yield %p : tensor<?x64xf32, #dyn.shape<[M, 64]>>
  }
  return %y : tensor<?x64xf32, #dyn.shape<[M, 64]>>
}

// -----

// CHECK-LABEL: gir.kernel @units_contract0(
// CHECK: %[[FIRST:.*]] = gir.load {{.*}} -> !gir.tile<vec, f32, [2, 32]>
// CHECK: gir.for {{.*}}%[[READ:.*]] = %[[FIRST]])
// CHECK: gir.unary "cos" %[[READ]] : !gir.tile<vec, f32, [2, 32]>
// CHECK: gir.store {{.*}} !gir.slice<shared, f32, [2, 32]>
// CHECK: gir.sync
// CHECK: gir.contract
#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @units(%x: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %w: tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {
  %M = dyn.symbol "M" : index
  %y = graph.fusion(%x, %w : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {schedule = #schedule.tree<
    version { kernel { loop d1 by 32 grid { loop d2 by 64 grid { loop d2 by 16 units { loop d0 by 8 { cache p:1.0 rows d2 cols d0 in shared padded cache p:1.1 rows d0 cols d1 in shared padded ahead { place e:0 rows d0 cols d1 in vec padded } loop d0 by 4 { contract p:1 rows d2 cols d1 in vec padded } } } } } } }
  >} {
  ^bb0(%a: tensor<?x24xf32, #dyn.shape<[M, 24]>>, %b: tensor<24x64xf32>):
    %M = dyn.symbol "M" : index
    %e = graph.compute ins(%b : tensor<24x64xf32>) -> tensor<24x64xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.cos %p : f32
      graph.yield %v : f32
    }
    %p = graph.compute ins(%a, %e : tensor<?x24xf32, #dyn.shape<[M, 24]>>, tensor<24x64xf32>) -> tensor<?x64xf32, #dyn.shape<[M, 64]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%l: f32, %r: f32):
      %v = arith.mulf %l, %r : f32
      graph.yield %v : f32
    }
    graph.yield %p : tensor<?x64xf32, #dyn.shape<[M, 64]>>
  }
  return %y : tensor<?x64xf32, #dyn.shape<[M, 64]>>
}
