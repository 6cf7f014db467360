// RUN: sutura-opt %s --convert-graph-to-gir | FileCheck %s
// RUN: sutura-opt %s --convert-graph-to-gir --canonicalize --plan-buffers --convert-gir-to-cpu | FileCheck %s --check-prefix=CPU

!x = tensor<?x20xf32, #dyn.shape<[M, 20]>>
!y = tensor<?x1600xf32, #dyn.shape<[M, 1600]>>
#id = affine_map<(d0, d1) -> (d0, d1)>
#first = affine_map<(d0, d1) -> (d0)>
#lhs = affine_map<(d0, d1, d2) -> (d0, d2)>
#rhs = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>

// The right factor is made where it is packed. A group makes its rows of the left factor near it: their largest element
// first. Then it multiplies them by all of the columns for which that is done, tile by tile up to the last row there is.
// CHECK: gir.kernel @product_contract0(%arg0 : !gir.view<dram, i8, [20, 1600]> in, %{{.*}} : !gir.view<dram, f32, [50, 20, 32]> out)
// CHECK: gir.load {{.*}} -> !gir.tile<vec, i8, [1, 32]>
// CHECK: gir.cast "sitofp"
// CHECK: gir.store {{.*}} !gir.slice<dram, f32, [1, 32]>

// CHECK: gir.kernel @product_contract1(%arg0 : !gir.view<dram, f32, [M, 20]> in, %arg1 : !gir.view<dram, f32, [50, 20, 32]> in, %arg2 : !gir.view<dram, f32, [M, 1600]> out)
// CHECK-SAME: grid(%{{.*}} = 2, %{{.*}} = (M + 47) floordiv 48)
// CHECK: %[[NEAR:.*]] = gir.alloc owner("unit") : !gir.view<l1, f32, [48, 20]>
// CHECK: gir.for %[[T:.*]] = %c0 to %c4
// CHECK: gir.for %[[R:.*]] = %c0 to %c12
// CHECK: gir.reduce "max" "cols"
// CHECK: gir.binary "div"
// CHECK: gir.slice %[[NEAR]][%{{.*}}, %c0] rows(0) cols(1) : {{.*}} -> !gir.slice<l1, f32, [1, 20]>
// CHECK: gir.for %{{.*}} = %c0 to %c25
// CHECK: %[[FIRST:.*]] = gir.index #{{.*}}(%arg4)
// CHECK: %[[END:.*]] = gir.index #{{.*}}(%arg4, %{{.*}})
// CHECK: gir.for %{{.*}} = %[[FIRST]] to %[[END]]
// CHECK: gir.for %[[K:.*]] = %c0 to %c20 carry
// CHECK: gir.slice %[[NEAR]][%{{.*}}, %[[K]]] rows(0) : {{.*}} -> !gir.slice<l1, f32, [12, 1]>
// CHECK: gir.contract

// No tensor between the kernels but the packed factor.
// CHECK-LABEL: rt.program @product(
// CHECK-COUNT-1: alloc
// CHECK-NOT: alloc
// CHECK: launch @product_contract0
// CHECK: launch @product_contract1

// CPU-COUNT-2: func.func @product_contract
func.func @product(%x: !x, %q: tensor<20x1600xi8>) -> !y {
  %M = dyn.symbol "M" {likely = [4096]} : index
  %p = graph.fusion(%x, %q : !x, tensor<20x1600xi8>) -> !y {
  ^bb0(%x_0: !x, %q_0: tensor<20x1600xi8>):
    %M_0 = dyn.symbol "M" {likely = [4096]} : index
    %m = graph.compute ins(%x_0 : !x) -> tensor<?xf32, #dyn.shape<[M]>> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #first]} {
    ^bb0(%a: f32):
      graph.yield %a : f32
    }
    %e = graph.compute ins(%x_0, %m : !x, tensor<?xf32, #dyn.shape<[M]>>) -> !x {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #id]} {
    ^bb0(%a: f32, %b: f32):
      %v = arith.divf %a, %b : f32
      %t = math.tanh %v : f32
      graph.yield %t : f32
    }
    %w = graph.compute ins(%q_0 : tensor<20x1600xi8>) -> tensor<20x1600xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%a: i8):
      %f = arith.sitofp %a : i8 to f32
      graph.yield %f : f32
    }
    %r = graph.compute ins(%e, %w : !x, tensor<20x1600xf32>) -> !y {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#lhs, #rhs, #out]} {
    ^bb0(%a: f32, %b: f32):
      %v = arith.mulf %a, %b : f32
      graph.yield %v : f32
    }
    graph.yield %r : !y
  }
  return %p : !y
}
