// Each form as upstream writes it, which is read and written again byte for byte.
// RUN: split-file %s %t
// RUN: sutura-opt %t/in.mlir --discard-value-names > %t/out.mlir
// RUN: diff -b %t/in.mlir %t/out.mlir
//--- in.mlir
module {
  llvm.func @f(%arg0: !llvm.ptr, %arg1: i32, %arg2: f32, %arg3: !llvm.ptr, %arg4: i8, %arg5: i64) {
    llvm.fence acquire
    llvm.fence syncscope("agent") seq_cst
    %0 = llvm.atomicrmw add %arg0, %arg1 monotonic : !llvm.ptr, i32
    %1 = llvm.atomicrmw volatile fadd %arg0, %arg2 syncscope("agent") acq_rel {alignment = 16 : i64} : !llvm.ptr, f32
    %2 = llvm.atomicrmw xchg %arg0, %arg3 seq_cst : !llvm.ptr, !llvm.ptr
    %3 = llvm.cmpxchg %arg0, %arg1, %arg1 acq_rel monotonic : !llvm.ptr, i32
    %4 = llvm.cmpxchg weak volatile %arg0, %arg1, %arg1 syncscope("agent") seq_cst acquire {alignment = 16 : i64} : !llvm.ptr, i32
    "llvm.intr.memset.inline"(%arg0, %arg4) <{isVolatile = false, len = 10 : i64}> : (!llvm.ptr, i8) -> ()
    "llvm.intr.memset"(%arg0, %arg4, %arg5) <{isVolatile = false}> : (!llvm.ptr, i8, i64) -> ()
    "llvm.intr.memcpy"(%arg0, %arg3, %arg5) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
    "llvm.intr.memcpy.inline"(%arg0, %arg3) <{isVolatile = false, len = 10 : i64}> : (!llvm.ptr, !llvm.ptr) -> ()
    %5 = llvm.extractvalue %3[1] : !llvm.struct<(i32, i1)>
    llvm.return
  }
}
