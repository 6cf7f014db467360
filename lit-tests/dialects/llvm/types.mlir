// Types and attributes of the llvm dialect that stand inside one another.
// RUN: sutura-opt %s --allow-unregistered-dialect --verify-diagnostics --split-input-file | FileCheck %s

// CHECK: !llvm.struct<"list", (i32, struct<"list">, array<2 x struct<"list">>, struct<"inner", (struct<"list">)>)>
"test.op"() {a = !llvm.struct<"list", (i32, struct<"list">, array<2 x struct<"list">>, struct<"inner", (struct<"list">)>)>} : () -> ()
// A struct with a type that LLVM has not is written with the dialect's name inside another.
// CHECK: !llvm.struct<"foreign", (!llvm.struct<"foreign">, index)>
"test.op"() {a = !llvm.struct<"foreign", (!llvm.struct<"foreign">, index)>} : () -> ()
// CHECK: !llvm.array<2 x !llvm.struct<(index)>>
"test.op"() {a = !llvm.array<2 x struct<(index)>>} : () -> ()
// CHECK: !llvm.func<void (metadata, token, x86_amx, !llvm.ppc_fp128, target<"spirv.Image", i32, ptr, 1, 0>, array<4 x !llvm.ppc_fp128>, label)>
"test.op"() {a = !llvm.func<void (metadata, !llvm.token, x86_amx, ppc_fp128, target<"spirv.Image", i32, ptr, 1, 0>, array<4 x ppc_fp128>, label)>} : () -> ()
// Whether a type that is not known here is one of LLVM's nobody can tell: it keeps its dialect's name.
// CHECK: !llvm.func<void (!llvm.new, array<2 x i8>)>
"test.op"() {a = !llvm.func<void (!llvm.new, array<2 x i8>)>} : () -> ()
// CHECK: a = #llvm.dereferenceable<bytes = 4>, b = #llvm.dereferenceable<bytes = 8, mayBeNull = true>
"test.op"() {a = #llvm.dereferenceable<bytes = 4, mayBeNull = false>, b = #llvm.dereferenceable<bytes = 8, mayBeNull = true>} : () -> ()

// CHECK: a = #llvm.loop_unroll<disable = false, count = 4 : i32>, b = #llvm.loop_unroll<runtimeDisable = true, full = false>
"test.op"() {a = #llvm.loop_unroll<count = 4 : i32, disable = false>, b = #llvm.loop_unroll<full = false, runtimeDisable = true>} : () -> ()
// CHECK: a = #llvm.loop_annotation<unroll = <disable = true>>, b = #llvm.loop_annotation<unroll = <full = true>>
"test.op"() {a = #llvm.loop_annotation<unroll = <disable = true>>, b = #llvm.loop_annotation<unroll = #llvm.loop_unroll<full = true>>} : () -> ()

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

// -----

// expected-error@+1 {{expected a number: types stand before the numbers}}
"test.op"() {a = !llvm.target<"x", 1, i32>} : () -> ()

// -----

// expected-error@+1 {{expected a number from 0 to 2^32 - 1}}
"test.op"() {a = !llvm.target<"x", -1>} : () -> ()

// -----

// expected-error@+1 {{expected `disable`, `count`, `runtimeDisable` or `full`}}
"test.op"() {a = #llvm.loop_unroll<twice = true>} : () -> ()

// -----

// expected-error@+1 {{expected a number of type i32}}
"test.op"() {a = #llvm.loop_unroll<count = 4 : i64>} : () -> ()

// -----

// expected-error@+1 {{expected a `#llvm.loop_unroll`}}
"test.op"() {a = #llvm.loop_annotation<unroll = 4 : i32>} : () -> ()

// -----

// expected-error@+1 {{expected 'unroll'}}
"test.op"() {a = #llvm.loop_annotation<vectorize = <disable = true>>} : () -> ()

// -----

// expected-error@+1 {{the parameter stands twice}}
"test.op"() {a = #llvm.loop_unroll<disable = true, disable = false>} : () -> ()

// -----

// expected-error@+1 {{`count` stands twice}}
"test.op"() {a = #llvm.loop_unroll<count = 2 : i32, count = 4 : i32>} : () -> ()
