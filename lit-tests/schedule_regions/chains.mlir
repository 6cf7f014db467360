// Schedules of chains that people write: what a window reads is made by a launch before it, or near, for a part of the lines and of each.
// RUN: sutura-opt %s --attach-target="name=x86_avx512" --convert-graph-to-gir --check-passes --strict --split-input-file | FileCheck %s

// CHECK-LABEL: gir.kernel @two_chain1(
// CHECK: gir.contract
// CHECK: gir.store {{.*}} !gir.slice<dram, f32, [7, 32]>
// CHECK-LABEL: gir.kernel @two_chain2(
// CHECK: gir.load {{.*}} pad(0.000000e+00 : f32) : !gir.slice<dram, f32, [1, 32]>
// CHECK-LABEL: rt.program @two
#around = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 + d4 - 1, d2 + d5 - 1, d3)>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#made = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#out = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
#pixel = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
#tap = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5, d3)>
#weight = affine_map<(d0, d1, d2, d3, d4) -> (d4, d3)>
func.func @two(%x: tensor<1x14x14x24xf32>, %w: tensor<24x384xf32>, %d: tensor<3x3x384xf32>) -> tensor<1x14x14x384xf32> {
  %y = graph.fusion(%x, %w, %d : tensor<1x14x14x24xf32>, tensor<24x384xf32>, tensor<3x3x384xf32>) -> tensor<1x14x14x384xf32> {schedule = #schedule.tree<
    version { kernel { loop d3 by 32 grid { loop d4 { pack c:0.1 cols d3 in vec padded } } } kernel { loop d1 grid { loop d3 by 32 grid { loop d2 by 7 { loop d4 { contract c:0 rows d2 cols d3 in vec } place r:1 rows d2 cols d3 in vec } } } } kernel { loop d5 by 14 grid { loop d6 by 14 grid { loop d3 by 32 grid { cache e:2.0 cols d3 in l1 padded loop d5 { loop d6 by 7 { loop d7 { loop d8 { place e:2 rows d6 cols d3 in vec } } place y:3 rows d6 cols d3 in vec } } } } } } }
  >} {
  ^bb0(%x_0: tensor<1x14x14x24xf32>, %w_1: tensor<24x384xf32>, %d_2: tensor<3x3x384xf32>):
    %c = graph.compute ins(%x_0, %w_1 : tensor<1x14x14x24xf32>, tensor<24x384xf32>) -> tensor<1x14x14x384xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, maps = [#pixel, #weight, #made]} {
    ^bb0(%a: f32, %b: f32):
      %v = arith.mulf %a, %b : f32
      graph.yield %v : f32
    }
    %r = graph.compute ins(%c : tensor<1x14x14x384xf32>) -> tensor<1x14x14x384xf32> {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%a: f32):
      %zero = arith.constant 0.000000e+00 : f32
      %v = arith.maximumf %a, %zero : f32
      graph.yield %v : f32
    }
    %e = graph.compute ins(%r, %d_2 : tensor<1x14x14x384xf32>, tensor<3x3x384xf32>) -> tensor<1x14x14x384xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce]>, maps = [#around, #tap, #out], oob = [0.000000e+00 : f32, unit]} {
    ^bb0(%a: f32, %b: f32):
      %v = arith.mulf %a, %b : f32
      graph.yield %v : f32
    }
    %y_3 = graph.compute ins(%e : tensor<1x14x14x384xf32>) -> tensor<1x14x14x384xf32> {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%a: f32):
      %zero = arith.constant 0.000000e+00 : f32
      %v = arith.maximumf %a, %zero : f32
      graph.yield %v : f32
    }
    graph.yield %y_3 : tensor<1x14x14x384xf32>
  }
  return %y : tensor<1x14x14x384xf32>
}

// -----

// Neighbours make the lines between them twice.
// CHECK-LABEL: gir.kernel @lines_chain1(
// CHECK-SAME: grid(%{{[a-z0-9]+}} = 4, %{{[a-z0-9]+}} = 2, %{{[a-z0-9]+}} = 4)
// CHECK: gir.alloc owner("unit") : !gir.view<l1, f32, [6, 15, 96]>
// CHECK: gir.contract
#around = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 + d4 - 1, d2 + d5 - 1, d3)>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#made = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#out = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
#pixel = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
#tap = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5, d3)>
#weight = affine_map<(d0, d1, d2, d3, d4) -> (d4, d3)>
func.func @lines(%x: tensor<1x14x14x24xf32>, %w: tensor<24x384xf32>, %d: tensor<3x3x384xf32>) -> tensor<1x14x14x384xf32> {
  %y = graph.fusion(%x, %w, %d : tensor<1x14x14x24xf32>, tensor<24x384xf32>, tensor<3x3x384xf32>) -> tensor<1x14x14x384xf32> {schedule = #schedule.tree<
    version { kernel { loop d3 by 32 grid { loop d4 { pack c:0.1 cols d3 in vec padded } } } kernel { loop d5 by 4 grid { loop d6 by 7 grid { loop d3 by 96 grid { cache e:2.0 cols d3 in l1 padded { loop d3 by 32 { loop d1 { loop d2 by 7 { loop d4 { contract c:0 rows d2 cols d3 in vec padded } place r:1 rows d2 cols d3 in vec padded } } } } loop d5 { loop d3 by 32 { loop d7 { loop d8 { place e:2 rows d6 cols d3 in vec } } place y:3 rows d6 cols d3 in vec } } } } } } }
  >} {
  ^bb0(%x_0: tensor<1x14x14x24xf32>, %w_1: tensor<24x384xf32>, %d_2: tensor<3x3x384xf32>):
    %c = graph.compute ins(%x_0, %w_1 : tensor<1x14x14x24xf32>, tensor<24x384xf32>) -> tensor<1x14x14x384xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, maps = [#pixel, #weight, #made]} {
    ^bb0(%a: f32, %b: f32):
      %v = arith.mulf %a, %b : f32
      graph.yield %v : f32
    }
    %r = graph.compute ins(%c : tensor<1x14x14x384xf32>) -> tensor<1x14x14x384xf32> {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%a: f32):
      %zero = arith.constant 0.000000e+00 : f32
      %v = arith.maximumf %a, %zero : f32
      graph.yield %v : f32
    }
    %e = graph.compute ins(%r, %d_2 : tensor<1x14x14x384xf32>, tensor<3x3x384xf32>) -> tensor<1x14x14x384xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce]>, maps = [#around, #tap, #out], oob = [0.000000e+00 : f32, unit]} {
    ^bb0(%a: f32, %b: f32):
      %v = arith.mulf %a, %b : f32
      graph.yield %v : f32
    }
    %y_3 = graph.compute ins(%e : tensor<1x14x14x384xf32>) -> tensor<1x14x14x384xf32> {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%a: f32):
      %zero = arith.constant 0.000000e+00 : f32
      %v = arith.maximumf %a, %zero : f32
      graph.yield %v : f32
    }
    graph.yield %y_3 : tensor<1x14x14x384xf32>
  }
  return %y : tensor<1x14x14x384xf32>
}
