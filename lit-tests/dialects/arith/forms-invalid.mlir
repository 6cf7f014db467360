// What is refused, with upstream's messages.
// RUN: sutura-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: f32, %s: f8E8M0FNU) {
  // expected-error@+1 {{operand types 'f32', 'f8E8M0FNU' and result type 'bf16' are cast incompatible}}
  %0 = arith.scaling_extf %x, %s : f32, f8E8M0FNU to bf16
  return
}
