// RUN: sutura-opt %s --expand-math --verify-diagnostics --split-input-file

func.func @quadruple(%x: f128) -> f128 {
  // expected-error @below {{'math.exp' op has no expansion for this type, and nothing may call a math library}}
  %y = math.exp %x : f128
  return %y : f128
}

// -----

func.func @double(%x: f64) -> f64 {
  // expected-error @below {{'math.acos' op has no expansion for this type}}
  %y = math.acos %x : f64
  return %y : f64
}

// -----

func.func @arc_sine(%x: f32) -> f32 {
  // expected-error @below {{'math.asin' op has no expansion for this type}}
  %y = math.asin %x : f32
  return %y : f32
}

// -----

func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{'math.sin' op has no expansion for this type}}
  %y = math.sin %x : tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

func.func @nested(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.fusion(%x : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %0 = graph.compute ins(%a : tensor<4xf32>) -> tensor<4xf32> {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
    ^bb0(%p: f32):
      // expected-error @below {{'math.asin' op has no expansion for this type}}
      %v = math.asin %p : f32
      graph.yield %v : f32
    }
    graph.yield %0 : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
