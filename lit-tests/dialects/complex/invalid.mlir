// RUN: sutura-opt %s --split-input-file --verify-diagnostics

func.func @one_part() -> complex<f32> {
  // expected-error @below {{value must be a list of two floats of the type of the result's parts}}
  %0 = complex.constant [1.0 : f32] : complex<f32>
  return %0 : complex<f32>
}

// -----

func.func @other_parts() -> complex<f32> {
  // expected-error @below {{value must be a list of two floats of the type of the result's parts}}
  %0 = complex.constant [1.0, 2.0] : complex<f32>
  return %0 : complex<f32>
}

// -----

func.func @no_complex(%a: f32) -> f32 {
  // expected-error @below {{expected a complex type}}
  %0 = complex.create %a, %a : f32
  return %0 : f32
}

// -----

func.func @created(%a: f64) -> complex<f32> {
  // expected-error @below {{operands must have the type of the result's parts}}
  %0 = "complex.create"(%a, %a) : (f64, f64) -> complex<f32>
  return %0 : complex<f32>
}

// -----

func.func @part(%a: complex<f32>) -> f64 {
  // expected-error @below {{result must have the type of the operand's parts}}
  %0 = "complex.re"(%a) : (complex<f32>) -> f64
  return %0 : f64
}
