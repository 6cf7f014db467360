// Each form as upstream writes it, which is read and written again byte for byte.
// RUN: split-file %s %t
// RUN: sutura-opt %t/in.mlir --allow-unregistered-dialect --discard-value-names > %t/out.mlir
// RUN: diff %t/in.mlir %t/out.mlir
//--- in.mlir
module {
  func.func @f(%arg0: i1, %arg1: i32) {
    cf.assert %arg0, "x"
    cf.switch %arg1 : i32, [
      default: ^bb1(%arg1 : i32),
      42: ^bb1(%arg1 : i32),
      4294967293: ^bb2
    ] {a}
  ^bb1(%0: i32):  // 2 preds: ^bb0, ^bb0
    cf.switch %arg1 : i32, [
      default: ^bb2]
  ^bb2:  // 2 preds: ^bb0, ^bb1
    return
  }
}
