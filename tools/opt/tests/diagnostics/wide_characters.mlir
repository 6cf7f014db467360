func.func @f() {
  %0 = arith.constant "café “quoted”" : i32 // wide 日本
  return
}
