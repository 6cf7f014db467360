// What is made of one number per row is made for all rows of a group at once, where it costs much and every group has as many rows.

// RUN: sutura-opt %s --split-input-file --schedule-regions | FileCheck %s
// RUN: sutura-opt %s --split-input-file --convert-graph-to-gir --check-passes --strict -o /dev/null

#wk = affine_map<(m, k) -> (m, k)>
#xk = affine_map<(m, k) -> (k)>
#m = affine_map<(m, k) -> (m)>
#id = affine_map<(m) -> (m)>

// CHECK-LABEL: func.func @gates
// CHECK: loop d0 by 16 grid {
// CHECK-NEXT: operand s:0.1 cols d1 in l1
// CHECK-NEXT: cache y:1.0 cols d0 in l1 {
// CHECK-NEXT: loop d0 { place s:0 cols d1 in l1 }
// CHECK-NEXT: }
// CHECK-NEXT: place y:1 cols d0 in l1
func.func @gates(%w: tensor<96x40xf32>, %x: tensor<40xf32>, %b: tensor<96xf32>) -> tensor<96xf32> {
  %r = graph.fusion(%w, %x, %b : tensor<96x40xf32>, tensor<40xf32>, tensor<96xf32>) -> tensor<96xf32> {
  ^bb0(%i: tensor<96x40xf32>, %j: tensor<40xf32>, %l: tensor<96xf32>):
    %s = graph.compute ins(%i, %j : tensor<96x40xf32>, tensor<40xf32>) -> tensor<96xf32> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#wk, #xk, #m]} {
    ^bb0(%e: f32, %f: f32):
      %p = arith.mulf %e, %f : f32
      graph.yield %p : f32
    }
    %y = graph.compute ins(%s, %l : tensor<96xf32>, tensor<96xf32>) -> tensor<96xf32> {iterators = #graph.iterators<[parallel]>, maps = [#id, #id, #id]} {
    ^bb0(%e: f32, %f: f32):
      %p = arith.addf %e, %f : f32
      %t = math.tanh %p : f32
      graph.yield %t : f32
    }
    graph.yield %y : tensor<96xf32>
  }
  return %r : tensor<96xf32>
}

// -----

#wk = affine_map<(m, k) -> (m, k)>
#xk = affine_map<(m, k) -> (k)>
#m = affine_map<(m, k) -> (m)>
#id = affine_map<(m) -> (m)>

// The last group has fewer rows: each makes its own number.
// CHECK-LABEL: func.func @ragged
// CHECK: loop d0 by 16 grid {
// CHECK-NEXT: operand s:0.1 cols d1 in l1
// CHECK-NEXT: loop d0 {
// CHECK-NEXT: place s:0 cols d1 in l1
// CHECK-NEXT: place y:1 cols d1 in l1
func.func @ragged(%w: tensor<97x40xf32>, %x: tensor<40xf32>, %b: tensor<97xf32>) -> tensor<97xf32> {
  %r = graph.fusion(%w, %x, %b : tensor<97x40xf32>, tensor<40xf32>, tensor<97xf32>) -> tensor<97xf32> {
  ^bb0(%i: tensor<97x40xf32>, %j: tensor<40xf32>, %l: tensor<97xf32>):
    %s = graph.compute ins(%i, %j : tensor<97x40xf32>, tensor<40xf32>) -> tensor<97xf32> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#wk, #xk, #m]} {
    ^bb0(%e: f32, %f: f32):
      %p = arith.mulf %e, %f : f32
      graph.yield %p : f32
    }
    %y = graph.compute ins(%s, %l : tensor<97xf32>, tensor<97xf32>) -> tensor<97xf32> {iterators = #graph.iterators<[parallel]>, maps = [#id, #id, #id]} {
    ^bb0(%e: f32, %f: f32):
      %p = arith.addf %e, %f : f32
      %t = math.tanh %p : f32
      graph.yield %t : f32
    }
    graph.yield %y : tensor<97xf32>
  }
  return %r : tensor<97xf32>
}
