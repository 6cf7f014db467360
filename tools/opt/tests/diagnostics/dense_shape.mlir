func.func @f() -> tensor<2x3xf32> {
  %0 = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
