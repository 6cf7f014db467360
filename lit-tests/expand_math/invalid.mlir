// RUN: sutura-opt %s --expand-math --verify-diagnostics --split-input-file

func.func @double(%x: f64) -> f64 {
  // expected-error @below {{'math.exp' op has no expansion for this type, and nothing may call a math library}}
  %y = math.exp %x : f64
  return %y : f64
}

// -----

func.func @sine(%x: f32) -> f32 {
  // expected-error @below {{'math.sin' op has no expansion for this type}}
  %y = math.sin %x : f32
  return %y : f32
}
