// RUN: sutura-opt %s --legalize-elements --verify-diagnostics

// Stored integers are no matter of this pass.
!q = !quant.uniform<u8:f32, 0.5:3>
func.func @reshaped(%x: tensor<4x!q>) -> tensor<2x2x!q> {
  // expected-error @below {{is of tensors of !quant.uniform<u8:f32, 5.000000e-01:3>, for which nothing is compiled; 'lower-quant-ops' makes integers of them}}
  %0 = graph.reshape %x : tensor<4x!q> -> tensor<2x2x!q>
  return %0 : tensor<2x2x!q>
}
