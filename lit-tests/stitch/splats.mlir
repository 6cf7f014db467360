// A constant of one number that has more than a mebibyte is computed where it is read: an artifact holds every element of its
// constants.

// RUN: sutura-opt %s --stitch | FileCheck %s
// RUN: sutura-opt %s --stitch --convert-graph-to-gir | FileCheck %s --check-prefix=PROGRAM
// RUN: sutura-opt %s --stitch --convert-graph-to-gir --check-passes=2 --strict -o /dev/null

#id = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// CHECK-LABEL: func.func @large
// CHECK-NOT: graph.constant
// CHECK: arith.constant 2.000000e+00 : f32
// PROGRAM-LABEL: rt.program @large(
// PROGRAM-NOT: constant "
// PROGRAM: }
func.func @large() -> tensor<f32> {
  %c = graph.constant dense<2.0> : tensor<262145xf32>
  %0 = graph.compute ins(%c : tensor<262145xf32>) -> tensor<f32> {combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[reduce]>, maps = [#id, #none]} {
  ^bb0(%x: f32):
    graph.yield %x : f32
  }
  return %0 : tensor<f32>
}

// PROGRAM-LABEL: rt.program @returned(
// PROGRAM-NOT: constant "
// PROGRAM: }
func.func @returned() -> tensor<512x513xf32> {
  %c = graph.constant dense<2.0> : tensor<512x513xf32>
  return %c : tensor<512x513xf32>
}

// CHECK-LABEL: func.func @small
// CHECK: graph.constant dense<2.000000e+00> : tensor<262144xf32>
func.func @small() -> tensor<f32> {
  %c = graph.constant dense<2.0> : tensor<262144xf32>
  %0 = graph.compute ins(%c : tensor<262144xf32>) -> tensor<f32> {combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[reduce]>, maps = [#id, #none]} {
  ^bb0(%x: f32):
    graph.yield %x : f32
  }
  return %0 : tensor<f32>
}

// One that is no number everywhere is kept.
// CHECK-LABEL: func.func @empty
// CHECK: graph.constant dense<> : tensor<0xf32>
func.func @empty() -> tensor<0xf32> {
  %c = graph.constant dense<> : tensor<0xf32>
  return %c : tensor<0xf32>
}
