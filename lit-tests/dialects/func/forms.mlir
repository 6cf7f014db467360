// Each form as upstream writes it, which is read and written again byte for byte.
// RUN: split-file %s %t
// RUN: sutura-opt %t/in.mlir --allow-unregistered-dialect --discard-value-names > %t/out.mlir
// RUN: diff %t/in.mlir %t/out.mlir
//--- in.mlir
module {
  func.func private @g(i32) -> i32
  func.func @f(%arg0: i32 {llvm.noundef}) -> (i32 {llvm.zeroext}) attributes {k = 1 : i64} {
    %f = constant @g : (i32) -> i32
    %0 = call_indirect %f(%arg0) {a} : (i32) -> i32
    %1 = call @g(%0) : (i32) -> i32
    return %1 : i32
  }
}
