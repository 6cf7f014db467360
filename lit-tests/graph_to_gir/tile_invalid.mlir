// RUN: sutura-opt %s --split-input-file --convert-graph-to-gir --verify-diagnostics
// RUN: not sutura-opt %s --split-input-file --convert-graph-to-gir 2>&1 | FileCheck %s
// CHECK: its tiles are "12x32", "12x16"
// CHECK: its tiles are "12x32", "12x16"
// CHECK: remove the attribute

func.func @unknown(%x: tensor<100x64xf32>, %w: tensor<64x64xf32>) -> tensor<100x64xf32> {
  // expected-error @+1 {{asks for register tiles "7x16", which the machine does not have}}
  %h = graph.fusion(%x, %w : tensor<100x64xf32>, tensor<64x64xf32>) -> tensor<100x64xf32> {graph.tile = "7x16", kind = "contract"} {
  ^bb0(%a: tensor<100x64xf32>, %b: tensor<64x64xf32>):
    %p = graph.compute ins(%a, %b : tensor<100x64xf32>, tensor<64x64xf32>) -> tensor<100x64xf32> {
      iterators = ["parallel", "parallel", "reduce"], combiners = ["add"],
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

func.func @number(%x: tensor<100x64xf32>, %w: tensor<64x64xf32>) -> tensor<100x64xf32> {
  // expected-error @+1 {{has an attribute `graph.tile` that is no string}}
  %h = graph.fusion(%x, %w : tensor<100x64xf32>, tensor<64x64xf32>) -> tensor<100x64xf32> {graph.tile = 12 : i64, kind = "contract"} {
  ^bb0(%a: tensor<100x64xf32>, %b: tensor<64x64xf32>):
    %p = graph.compute ins(%a, %b : tensor<100x64xf32>, tensor<64x64xf32>) -> tensor<100x64xf32> {
      iterators = ["parallel", "parallel", "reduce"], combiners = ["add"],
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
  // expected-error @+1 {{regions of kind 'row' have no register tiles to choose}}
  %h = graph.fusion(%x, %w : tensor<100x64xf32>, tensor<64x64xf32>) -> tensor<100x64xf32> {graph.tile = "12x32", kind = "row"} {
  ^bb0(%a: tensor<100x64xf32>, %b: tensor<64x64xf32>):
    %p = graph.compute ins(%a : tensor<100x64xf32>) -> tensor<100x64xf32> {
      iterators = ["parallel", "parallel"], maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
    } {
    ^bb0(%e: f32):
      %s = arith.mulf %e, %e : f32
      graph.yield %s : f32
    }
    graph.yield %p : tensor<100x64xf32>
  }
  return %h : tensor<100x64xf32>
}
