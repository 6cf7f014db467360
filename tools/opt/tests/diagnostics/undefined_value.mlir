func.func @f(%width: i32) -> i32 {
  %0 = arith.addi %width, %widht : i32
  return %0 : i32
}
