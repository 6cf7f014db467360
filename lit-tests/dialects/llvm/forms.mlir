// Each form as upstream writes it, which is read and written again byte for byte.
// RUN: split-file %s %t
// RUN: sutura-opt %t/in.mlir --allow-unregistered-dialect --discard-value-names > %t/out.mlir
// RUN: diff %t/in.mlir %t/out.mlir
//--- in.mlir
module {
  llvm.func @f(%arg0: !llvm.ptr, %arg1: i32, %arg2: !llvm.struct<(i32, array<2 x f32>)>, %arg3: vector<4x!llvm.ptr>) {
    %0 = llvm.getelementptr inbounds %arg0[%arg1, 1] : (!llvm.ptr, i32) -> !llvm.ptr, !llvm.struct<(i32, f32)>
    %1 = llvm.getelementptr nusw|nuw %arg0[%arg1] : (!llvm.ptr, i32) -> !llvm.ptr, i8
    %2 = llvm.getelementptr inbounds|nuw %arg0[4] {a} : (!llvm.ptr) -> !llvm.ptr, i8
    %3 = llvm.load volatile %arg0 atomic syncscope("x") monotonic {alignment = 4 : i64} : !llvm.ptr -> i32
    %4 = llvm.load %arg0 invariant dereferenceable<bytes = 4, mayBeNull = true> : !llvm.ptr -> !llvm.ptr
    llvm.store %arg1, %arg0 atomic release {alignment = 4 : i64} : i32, !llvm.ptr
    llvm.store volatile %arg1, %arg0 invariant_group : i32, !llvm.ptr
    %5 = llvm.alloca inalloca %arg1 x f32 {alignment = 8 : i64} : (i32) -> !llvm.ptr
    %6 = llvm.alloca %arg1 x f32 : (i32) -> !llvm.ptr<5>
    %7 = llvm.icmp "eq" %arg1, %arg1 : i32
    %8 = llvm.call @g(%arg1) vararg(!llvm.func<i32 (i32, ...)>) {a} : (i32) -> i32
    %9 = llvm.call fastcc tail %arg0(%arg1) ["x"(%arg1 : i32), "y"()] : !llvm.ptr, (i32 {llvm.noundef}) -> (i32 {llvm.zeroext})
    %10 = llvm.freeze %arg1 : i32
    llvm.switch %arg1 : i32, ^bb1(%arg1 : i32) [
      1: ^bb2,
      2: ^bb1(%10 : i32)
    ] {branch_weights = array<i32: 1, 2, 3>}
  ^bb1(%11: i32):  // 3 preds: ^bb0, ^bb0, ^bb1
    llvm.cond_br %7 weights([5, 6]), ^bb2, ^bb1(%11 : i32) {a}
  ^bb2:  // 2 preds: ^bb0, ^bb1
    llvm.br ^bb3 {z}
  ^bb3:  // pred: ^bb2
    llvm.switch %arg1 : i32, ^bb4 [
    ]
  ^bb4:  // pred: ^bb3
    %12 = llvm.trunc %arg1 : i32 to i8
    "llvm.intr.memcpy"(%arg0, %arg0, %arg1) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i32) -> ()
    "llvm.intr.memset"(%arg0, %12, %arg1) <{isVolatile = false}> : (!llvm.ptr, i8, i32) -> ()
    llvm.return
  }
  llvm.func internal hidden unnamed_addr fastcc @h(%arg0: i32 {llvm.zeroext}, ...) -> (i32 {llvm.zeroext}) vscale_range(1, 16) attributes {passthrough = ["a"]} {
    llvm.return %arg0 : i32
  }
  llvm.func @g(i32, ...) -> i32
  llvm.mlir.global private hidden thread_local unnamed_addr constant @s("abc\00") {addr_space = 0 : i32, alignment = 4 : i64, dso_local}
}
