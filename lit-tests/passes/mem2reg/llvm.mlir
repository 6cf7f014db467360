// RUN: sutura-opt %s --mem2reg | FileCheck %s

// The memory that holds an address goes first, then the one at the address.

// CHECK-LABEL: llvm.func @address(
// CHECK-SAME:    %[[X:.*]]: i32)
// CHECK-NOT:     llvm.alloca
// CHECK:         llvm.return %[[X]]
llvm.func @address(%x: i32) -> i32 {
  %one = llvm.mlir.constant(1 : i32) : i32
  %p = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
  %pp = llvm.alloca %one x !llvm.ptr : (i32) -> !llvm.ptr
  llvm.store %p, %pp : !llvm.ptr, !llvm.ptr
  llvm.store %x, %p : i32, !llvm.ptr
  %q = llvm.load %pp : !llvm.ptr -> !llvm.ptr
  %v = llvm.load %q : !llvm.ptr -> i32
  llvm.return %v : i32
}

// CHECK-LABEL: llvm.func @uninitialized(
// CHECK:         %[[U:.*]] = llvm.mlir.undef : i32
// CHECK:         llvm.cond_br %{{.*}}, ^{{.*}}, ^[[E:bb[0-9]+]](%[[U]] : i32)
llvm.func @uninitialized(%c: i1, %x: i32) -> i32 {
  %one = llvm.mlir.constant(1 : i32) : i32
  %p = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
  llvm.cond_br %c, ^a, ^b
^a:
  llvm.store %x, %p : i32, !llvm.ptr
  llvm.br ^b
^b:
  %v = llvm.load %p : !llvm.ptr -> i32
  llvm.return %v : i32
}

// CHECK-LABEL: llvm.func @volatile(
// CHECK:         llvm.store volatile
llvm.func @volatile(%x: i32) {
  %one = llvm.mlir.constant(1 : i32) : i32
  %p = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
  llvm.store volatile %x, %p : i32, !llvm.ptr
  llvm.return
}
