func.func @f(%x: f32) -> (f32, i32) {
  return %x : f32
}
