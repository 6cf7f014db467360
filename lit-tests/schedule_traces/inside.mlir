// inside: a loop over the places of a window leaves out those that lie outside the tensor.

// RUN: sutura-opt %s --split-input-file --schedule-regions --verify-diagnostics | FileCheck %s
// RUN: sutura-opt %s --split-input-file --convert-graph-to-gir --verify-diagnostics | FileCheck %s --check-prefix=GIR

#x = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 * 2 + d5 - 1, d3 + d6 - 1)>
#w = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>
#y = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>

// CHECK-LABEL: func.func @lines
// CHECK: loop d5 inside {
// GIR-DAG: #[[FIRST:.*]] = affine_map<(d0) -> (0, d0)>
// GIR-DAG: #[[END:.*]] = affine_map<(d0)[s0, s1] -> (s1, -d0 + s0)>
// GIR-LABEL: gir.kernel @lines_contract1
// GIR: gir.index #[[FIRST]](
// GIR: %[[LAST:.*]] = gir.index #[[END]](%{{.*}}, %{{.*}}, %c3)
// GIR: gir.for %{{.*}} = %{{.*}} to %[[LAST]] carry
func.func @lines(%x: tensor<1x8x80x20xf32>) -> tensor<1x32x40x20xf32> {
  %w = graph.constant dense<0.5> : tensor<32x8x3x3xf32>
  %y = graph.fusion(%x, %w : tensor<1x8x80x20xf32>, tensor<32x8x3x3xf32>) -> tensor<1x32x40x20xf32> {
    trace = #schedule.trace<reorder d5 d4 of y:0 inside d5 of y:0>} {
  ^bb0(%a: tensor<1x8x80x20xf32>, %b: tensor<32x8x3x3xf32>):
    %y = graph.compute ins(%a, %b : tensor<1x8x80x20xf32>, tensor<32x8x3x3xf32>) -> tensor<1x32x40x20xf32> {
      iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>,
      combiners = #graph.combiners<[add]>, maps = [#x, #w, #y], oob = [0.0 : f32, unit]} {
    ^bb0(%e: f32, %g: f32):
      %v = arith.mulf %e, %g : f32
      graph.yield %v : f32
    }
    graph.yield %y : tensor<1x32x40x20xf32>
  }
  return %y : tensor<1x32x40x20xf32>
}

// -----

#x = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5 - 1, d3 + d6 - 1)>
#w = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>
#y = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>

// Rows of a tile have several indices along which the window moves.
func.func @rows(%x: tensor<1x8x40x20xf32>) -> tensor<1x32x40x20xf32> {
  %w = graph.constant dense<0.5> : tensor<32x8x3x3xf32>
  // expected-error @below {{the loop over d6 leaves out what lies outside, and it has several indices of d3, which moves the window}}
  %y = graph.fusion(%x, %w : tensor<1x8x40x20xf32>, tensor<32x8x3x3xf32>) -> tensor<1x32x40x20xf32> {
    trace = #schedule.trace<inside d6 of y:0>} {
  ^bb0(%a: tensor<1x8x40x20xf32>, %b: tensor<32x8x3x3xf32>):
    %y = graph.compute ins(%a, %b : tensor<1x8x40x20xf32>, tensor<32x8x3x3xf32>) -> tensor<1x32x40x20xf32> {
      iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>,
      combiners = #graph.combiners<[add]>, maps = [#x, #w, #y], oob = [0.0 : f32, unit]} {
    ^bb0(%e: f32, %g: f32):
      %v = arith.mulf %e, %g : f32
      graph.yield %v : f32
    }
    graph.yield %y : tensor<1x32x40x20xf32>
  }
  return %y : tensor<1x32x40x20xf32>
}

// -----

#x = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5 - 1, d3 + d6 - 1)>
#w = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>
#y = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>

// Zeros times infinity are not zero: weights must be finite, and known.
func.func @infinite(%x: tensor<1x8x40x20xf32>) -> tensor<1x32x40x20xf32> {
  %w = graph.constant dense<0x7F800000> : tensor<32x8x3x3xf32>
  // expected-error @below {{the loop over d5 leaves out what lies outside, and a factor is no constant of finite numbers}}
  %y = graph.fusion(%x, %w : tensor<1x8x40x20xf32>, tensor<32x8x3x3xf32>) -> tensor<1x32x40x20xf32> {
    trace = #schedule.trace<inside d5 of y:0>} {
  ^bb0(%a: tensor<1x8x40x20xf32>, %b: tensor<32x8x3x3xf32>):
    %y = graph.compute ins(%a, %b : tensor<1x8x40x20xf32>, tensor<32x8x3x3xf32>) -> tensor<1x32x40x20xf32> {
      iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>,
      combiners = #graph.combiners<[add]>, maps = [#x, #w, #y], oob = [0.0 : f32, unit]} {
    ^bb0(%e: f32, %g: f32):
      %v = arith.mulf %e, %g : f32
      graph.yield %v : f32
    }
    graph.yield %y : tensor<1x32x40x20xf32>
  }
  return %y : tensor<1x32x40x20xf32>
}

// -----

#x = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5 - 1, d3 + d6 - 1)>
#w = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>
#y = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>

// Where what lies outside is another number, it counts.
func.func @ones(%x: tensor<1x8x7x7xf32>) -> tensor<1x32x7x7xf32> {
  %w = graph.constant dense<0.5> : tensor<32x8x3x3xf32>
  // expected-error @below {{the loop over d5 leaves out what lies outside, and a factor is not read outside along it as zeros}}
  %y = graph.fusion(%x, %w : tensor<1x8x7x7xf32>, tensor<32x8x3x3xf32>) -> tensor<1x32x7x7xf32> {
    trace = #schedule.trace<inside d5 of y:0>} {
  ^bb0(%a: tensor<1x8x7x7xf32>, %b: tensor<32x8x3x3xf32>):
    %y = graph.compute ins(%a, %b : tensor<1x8x7x7xf32>, tensor<32x8x3x3xf32>) -> tensor<1x32x7x7xf32> {
      iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>,
      combiners = #graph.combiners<[add]>, maps = [#x, #w, #y], oob = [1.0 : f32, unit]} {
    ^bb0(%e: f32, %g: f32):
      %v = arith.mulf %e, %g : f32
      graph.yield %v : f32
    }
    graph.yield %y : tensor<1x32x7x7xf32>
  }
  return %y : tensor<1x32x7x7xf32>
}

// -----

#x = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 * 2 + d5 * 3 - 3, d3 + d6 - 1)>
#w = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>
#y = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>

// Steps and dilation, and a height that is known at a call: the rule leaves out what lies outside, and what it makes is proved.
// CHECK-LABEL: func.func @dilated
// CHECK: loop d5 inside {
// GIR-LABEL: gir.kernel @dilated_contract1
// GIR: gir.contract
func.func @dilated(%x: tensor<1x8x?x20xf32, #dyn.shape<[1, 8, 2*H, 20]>>) -> tensor<1x32x?x20xf32, #dyn.shape<[1, 32, H, 20]>> {
  %H = dyn.symbol "H" : index
  %w = graph.constant dense<0.5> : tensor<32x8x3x3xf32>
  %y = graph.fusion(%x, %w : tensor<1x8x?x20xf32, #dyn.shape<[1, 8, 2*H, 20]>>, tensor<32x8x3x3xf32>) -> tensor<1x32x?x20xf32, #dyn.shape<[1, 32, H, 20]>> {
  ^bb0(%a: tensor<1x8x?x20xf32, #dyn.shape<[1, 8, 2*H, 20]>>, %b: tensor<32x8x3x3xf32>):
    %H = dyn.symbol "H" : index
    %y = graph.compute ins(%a, %b : tensor<1x8x?x20xf32, #dyn.shape<[1, 8, 2*H, 20]>>, tensor<32x8x3x3xf32>) -> tensor<1x32x?x20xf32, #dyn.shape<[1, 32, H, 20]>> {
      iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>,
      combiners = #graph.combiners<[add]>, maps = [#x, #w, #y], oob = [0.0 : f32, unit]} {
    ^bb0(%e: f32, %g: f32):
      %v = arith.mulf %e, %g : f32
      graph.yield %v : f32
    }
    graph.yield %y : tensor<1x32x?x20xf32, #dyn.shape<[1, 32, H, 20]>>
  }
  return %y : tensor<1x32x?x20xf32, #dyn.shape<[1, 32, H, 20]>>
}
