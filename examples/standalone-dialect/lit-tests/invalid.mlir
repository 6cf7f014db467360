// RUN: standalone-opt %s --lower-sat --split-input-file --verify-diagnostics

func.func @float(%x: f32) {
  // expected-error @+1 {{'sat.add' op operand #0 must be signless integer, but got 'f32'}}
  %0 = sat.add %x, %x : f32
  return
}

// -----

func.func @wide(%x: i128) {
  // expected-error @+3 {{failed to legalize operation 'sat.add' that was explicitly marked illegal}}
  // expected-note @+2 {{pattern 'lower-add' does not apply to 'sat.add': only integers of at most 64 bits are lowered}}
  // expected-note @+1 {{legal are: dialect 'arith'}}
  %0 = sat.add %x, %x : i128
  return
}

// -----

func.func @rows(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{'sat.flip' op needs a tensor that has rows}}
  %0 = sat.flip %x : tensor<f32>
  return %0 : tensor<f32>
}
