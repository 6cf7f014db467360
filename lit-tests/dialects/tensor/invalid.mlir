// Shapes that do not fit.
// RUN: sutura-opt %s --split-input-file --verify-diagnostics

func.func @f(%t: tensor<?x4xf32>) {
  // expected-error@+1 {{'tensor.cast' op operand type 'tensor<?x4xf32>' and result type 'tensor<?x5xf32>' are cast incompatible}}
  %0 = tensor.cast %t : tensor<?x4xf32> to tensor<?x5xf32>
  return
}

// -----

func.func @f(%n: index) {
  // expected-error@+1 {{'tensor.empty' op incorrect number of dynamic sizes, has 1, expected 0}}
  %0 = tensor.empty(%n) : tensor<4xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %i: index) {
  // expected-error@+1 {{'tensor.extract' op incorrect number of indices for extract_element}}
  %0 = tensor.extract %t[%i] : tensor<?x4xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %i: index, %x: f32) {
  // expected-error@+1 {{'tensor.insert' op incorrect number of indices}}
  %0 = tensor.insert %x into %t[%i] : tensor<?x4xf32>
  return
}

// -----

func.func @f(%x: f32) {
  // expected-error@+1 {{'tensor.from_elements' op failed to verify that operand types match result element type}}
  %0 = "tensor.from_elements"(%x) : (f32) -> tensor<2xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %i: index) {
  // expected-error@+1 {{expected type to be 'tensor<1x4xf32>' or a rank-reduced version. (size mismatch) }}
  %0 = tensor.extract_slice %t[%i, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<2x4xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %i: index) {
  // expected-error@+1 {{expected mixed offsets rank to match mixed sizes rank (1 vs 2) so the rank of the result type is well-formed.}}
  %0 = tensor.extract_slice %t[%i] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<1x4xf32>
  return
}

// -----

func.func @f(%t: tensor<8x4xf32>) {
  // expected-error@+1 {{'tensor.collapse_shape' op expected dimension 0 of collapsed type to be static value of 32}}
  %0 = tensor.collapse_shape %t [[0, 1]] : tensor<8x4xf32> into tensor<33xf32>
  return
}

// -----

func.func @f(%t: tensor<8x4xf32>) {
  // expected-error@+1 {{'tensor.collapse_shape' op expected collapsed rank (1) to equal the number of reassociation maps (2).}}
  %0 = tensor.collapse_shape %t [[0], [1]] : tensor<8x4xf32> into tensor<32xf32>
  return
}

// -----

func.func @f(%t: tensor<2xf32>) {
  // expected-error@+1 {{'tensor.collapse_shape' op invalid to reshape tensor/memref with non-unit extent dimensions to zero-rank tensor/memref}}
  %0 = tensor.collapse_shape %t [] : tensor<2xf32> into tensor<f32>
  return
}

// -----

func.func @f(%t: tensor<8x?xf32>) {
  // expected-error@+1 {{'tensor.collapse_shape' op expected dimension 0 of collapsed type to be dynamic since one or more of the corresponding dimensions in the expanded type is dynamic}}
  %0 = tensor.collapse_shape %t [[0, 1]] : tensor<8x?xf32> into tensor<8xf32>
  return
}

// -----

func.func @f(%t: tensor<4xf32>, %x: f64) {
  // expected-error@+1 {{'tensor.pad' op expected yield type to match shape element type}}
  %0 = tensor.pad %t low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %x : f64
  } : tensor<4xf32> to tensor<6xf32>
  return
}

// -----

func.func @f(%t: tensor<4xf32>, %x: f32) {
  // expected-error@+1 {{'tensor.pad' op must have one body argument per input dimension}}
  %0 = tensor.pad %t low[1] high[1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %x : f32
  } : tensor<4xf32> to tensor<6xf32>
  return
}

// -----

func.func @f(%t: tensor<4xf32>, %x: f32) {
  // expected-error@+1 {{specified type 'tensor<7xf32>' does not match the inferred type 'tensor<6xf32>'}}
  %0 = tensor.pad %t low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %x : f32
  } : tensor<4xf32> to tensor<7xf32>
  return
}
