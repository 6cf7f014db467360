func.func @f(%x: f32, %y: f64) -> f32 {
  %0 = "arith.addf"(%x, %y) : (f32, f64) -> f32
  return %0 : f32
}
