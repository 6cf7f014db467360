// Types and attributes of the llvm dialect that stand inside one another.
// RUN: sutura-opt %s --allow-unregistered-dialect --verify-diagnostics --split-input-file | FileCheck %s

// CHECK: !llvm.struct<"list", (i32, struct<"list">, array<2 x struct<"list">>, struct<"inner", (struct<"list">)>)>
"test.op"() {a = !llvm.struct<"list", (i32, struct<"list">, array<2 x struct<"list">>, struct<"inner", (struct<"list">)>)>} : () -> ()
// A struct with a type that LLVM has not is written with the dialect's name inside another.
// CHECK: !llvm.struct<"foreign", (!llvm.struct<"foreign">, index)>
"test.op"() {a = !llvm.struct<"foreign", (!llvm.struct<"foreign">, index)>} : () -> ()
// CHECK: !llvm.array<2 x !llvm.struct<(index)>>
"test.op"() {a = !llvm.array<2 x struct<(index)>>} : () -> ()
// CHECK: a = #llvm.dereferenceable<bytes = 4>, b = #llvm.dereferenceable<bytes = 8, mayBeNull = true>
"test.op"() {a = #llvm.dereferenceable<bytes = 4, mayBeNull = false>, b = #llvm.dereferenceable<bytes = 8, mayBeNull = true>} : () -> ()

// -----

// CHECK: llvm.inttoptr %n dereferenceable<bytes = 4> : i64 to !llvm.ptr
// CHECK: llvm.load %p dereferenceable<bytes = 4, mayBeNull = true> : !llvm.ptr -> !llvm.ptr
func.func @f(%n: i64, %p: !llvm.ptr) {
  %0 = llvm.inttoptr %n dereferenceable<bytes = 4> : i64 to !llvm.ptr
  %1 = llvm.load %p dereferenceable<bytes = 4, mayBeNull = true> : !llvm.ptr -> !llvm.ptr
  return
}

// -----

// expected-error@+1 {{struct without a body only allowed in a recursive struct}}
"test.op"() {a = !llvm.struct<"list">} : () -> ()

// -----

// expected-error@+1 {{identifier already used for an enclosing struct}}
"test.op"() {a = !llvm.struct<"list", (struct<"list", (i32)>)>} : () -> ()

// -----

func.func @f(%n: i64) {
  // expected-error@+1 {{expected a number of bytes}}
  %0 = llvm.inttoptr %n dereferenceable<bytes = -4> : i64 to !llvm.ptr
  return
}
