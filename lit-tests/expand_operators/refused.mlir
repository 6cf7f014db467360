// What an operator cannot be expanded for.
// RUN: sutura-opt %s --operators builtin --expand-operators --verify-diagnostics --split-input-file

!deep = tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>
func.func @deep(%x: !deep) -> !deep {
  // expected-error @below {{'graph.apply' op @softmax: needs 34 loops; at most 32 are supported}}
  %y = graph.apply @softmax(%x) : (!deep) -> !deep
  return %y : !deep
}

// -----

func.func @unknown(%x: tensor<?x?xf32>, %c: tensor<?xf32>) -> tensor<?x?xf32> {
  // expected-error @below {{'graph.apply' op @layer_norm_unbiased: needs a size that depends on data}}
  %y = graph.apply @layer_norm_unbiased(%x, %c) : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
