// What follows from no sum is computed by groups of its own, and not by every part of what is summed beside it.
//
// RUN: sutura-opt %s --convert-graph-to-gir | FileCheck %s
// RUN: sutura-opt %s --convert-graph-to-gir --check-passes=1 --strict -o /dev/null

#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1) -> (d0, 0)>
#map2 = affine_map<(d0, d1) -> (d1)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: gir.kernel @main_row0(
// CHECK-SAME: [S, 1]> in, %{{.*}} : !gir.view<dram, i32, [S, 1]> out)
// CHECK-SAME: grid(%{{[^,]*}}) units(1)
// CHECK-LABEL: gir.kernel @main_row1(
// CHECK-SAME: [8, S]> out)
func.func @main(%t6: tensor<?x1xi32, #dyn.shape<[S, 1]>>, %c7: tensor<10xi32>)
    -> (tensor<?x1xi32, #dyn.shape<[S, 1]>>, tensor<?xf32, #dyn.shape<[S]>>) {
  %S = dyn.symbol "S" : index
  %t14, %t19 = graph.fusion(%t6, %c7 : tensor<?x1xi32, #dyn.shape<[S, 1]>>, tensor<10xi32>) -> tensor<?x1xi32, #dyn.shape<[S, 1]>>, tensor<?xf32, #dyn.shape<[S]>> {
  ^bb0(%t6_0: tensor<?x1xi32, #dyn.shape<[S, 1]>>, %c7_1: tensor<10xi32>):
    %S_2 = dyn.symbol "S" : index
    %t8 = graph.compute ins(%t6_0, %c7_1 : tensor<?x1xi32, #dyn.shape<[S, 1]>>, tensor<10xi32>) -> tensor<?x10xi1, #dyn.shape<[S, 10]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#map1, #map2, #map3]} {
    ^bb0(%arg0: i32, %arg1: i32):
      %3 = arith.cmpi eq, %arg0, %arg1 : i32
      graph.yield %3 : i1
    }
    %t9 = graph.compute ins(%t8 : tensor<?x10xi1, #dyn.shape<[S, 10]>>) -> tensor<?x10xf32, #dyn.shape<[S, 10]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#map3, #map3]} {
    ^bb0(%arg0: i1):
      %3 = arith.uitofp %arg0 : i1 to f32
      graph.yield %3 : f32
    }
    %0 = graph.compute ins(%t9 : tensor<?x10xf32, #dyn.shape<[S, 10]>>) -> tensor<10xf32> {combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[reduce, parallel]>, maps = [#map3, #map2]} {
    ^bb0(%arg0: f32):
      graph.yield %arg0 : f32
    }
    %1 = graph.compute ins(%t9, %0 : tensor<?x10xf32, #dyn.shape<[S, 10]>>, tensor<10xf32>) -> tensor<10xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[reduce, parallel]>, maps = [#map3, #map2, #map2]} {
    ^bb0(%arg0: f32, %arg1: f32):
      %3 = arith.subf %arg0, %arg1 : f32
      %4 = math.exp %3 : f32
      graph.yield %4 : f32
    }
    %2 = graph.compute ins(%1 : tensor<10xf32>) -> tensor<10xf32> {iterators = #graph.iterators<[parallel]>, maps = [#map, #map]} {
    ^bb0(%arg0: f32):
      %3 = math.log %arg0 : f32
      graph.yield %3 : f32
    }
    %t13 = graph.compute ins(%t9, %0, %2 : tensor<?x10xf32, #dyn.shape<[S, 10]>>, tensor<10xf32>, tensor<10xf32>) -> tensor<?x10xf32, #dyn.shape<[S, 10]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#map3, #map2, #map2, #map3]} {
    ^bb0(%arg0: f32, %arg1: f32, %arg2: f32):
      %3 = arith.subf %arg0, %arg1 : f32
      %4 = arith.subf %3, %arg2 : f32
      graph.yield %4 : f32
    }
    %t14_3 = graph.compute ins(%t6_0 : tensor<?x1xi32, #dyn.shape<[S, 1]>>) -> tensor<?x1xi32, #dyn.shape<[S, 1]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#map3, #map3]} {
    ^bb0(%arg0: i32):
      graph.yield %arg0 : i32
    }
    %t19_4 = graph.compute ins(%t13 : tensor<?x10xf32, #dyn.shape<[S, 10]>>) -> tensor<?xf32, #dyn.shape<[S]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#map3, #map4]} {
    ^bb0(%arg0: f32):
      %3 = arith.mulf %arg0, %arg0 : f32
      graph.yield %3 : f32
    }
    graph.yield %t14_3, %t19_4 : tensor<?x1xi32, #dyn.shape<[S, 1]>>, tensor<?xf32, #dyn.shape<[S]>>
  }
  return %t14, %t19 : tensor<?x1xi32, #dyn.shape<[S, 1]>>, tensor<?xf32, #dyn.shape<[S]>>
}
