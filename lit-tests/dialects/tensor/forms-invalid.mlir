// What is refused, with upstream's messages.
// RUN: sutura-opt %s --split-input-file --verify-diagnostics

func.func @f(%a: tensor<3x6xf32>, %b: tensor<3x5xf32>) {
  // expected-error@+1 {{static concatenation size mismatch along non-concatenated dimension 1}}
  %0 = tensor.concat dim(0) %a, %b : (tensor<3x6xf32>, tensor<3x5xf32>) -> tensor<6x6xf32>
  return
}

// -----

func.func @f(%a: tensor<3x6xf32>) {
  // expected-error@+1 {{concatenation dim must be less than the tensor rank}}
  %0 = tensor.concat dim(3) %a, %a : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<6x6xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>, %s: tensor<2xindex>) {
  // expected-error@+1 {{source and destination tensor should have the same number of elements}}
  %0 = tensor.reshape %a(%s) : (tensor<4xf32>, tensor<2xindex>) -> tensor<2x3xf32>
  return
}
