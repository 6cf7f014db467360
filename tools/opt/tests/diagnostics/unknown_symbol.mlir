func.func private @callee(f32) -> f32
func.func @f(%x: f32) -> f32 {
  %0 = call @calle(%x) : (f32) -> f32
  return %0 : f32
}
