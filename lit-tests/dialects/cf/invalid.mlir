// Branches whose operands do not fit the block.
// RUN: sutura-opt %s --split-input-file --verify-diagnostics

func.func @f(%c: i1, %x: f32, %y: i32) {
  // expected-error@+1 {{type mismatch for bb argument #0 of successor #0}}
  cf.br ^bb1(%c : i1)
^bb1(%z: i32):
  return
}
