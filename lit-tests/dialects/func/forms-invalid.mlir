// What is refused, with upstream's messages.
// RUN: sutura-opt %s --split-input-file --verify-diagnostics

func.func @f(%g: (i32) -> i32, %x: f32) {
  // expected-error@+1 {{callee input types match argument types}}
  %0 = "func.call_indirect"(%g, %x) : ((i32) -> i32, f32) -> i32
  return
}
