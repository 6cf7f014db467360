// The generic form writes the value that an absent attribute stands for; the custom form does not.
// RUN: sutura-opt %s --print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: sutura-opt %s --print-op-generic | sutura-opt | FileCheck %s

// GENERIC: "func.func"() <{function_type = (i32, f32, memref<4xf32>, index) -> (), sym_name = "f"}> ({
// CHECK: func.func @f
func.func @f(%i: i32, %x: f32, %m: memref<4xf32>, %n: index) {
  // GENERIC: "arith.addi"(%i, %i) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
  // CHECK: arith.addi %i, %i : i32
  %0 = "arith.addi"(%i, %i) : (i32, i32) -> i32
  // Sorted among those that are given.
  // GENERIC: "arith.cmpf"(%x, %x) <{fastmath = #arith.fastmath<none>, predicate = 1 : i64}> : (f32, f32) -> i1
  // CHECK: arith.cmpf oeq, %x, %x : f32
  %1 = "arith.cmpf"(%x, %x) <{predicate = 1 : i64}> : (f32, f32) -> i1
  // GENERIC: "arith.addf"(%x, %x) <{fastmath = #arith.fastmath<nnan>}> : (f32, f32) -> f32
  // CHECK: arith.addf %x, %x fastmath<nnan> : f32
  %2 = arith.addf %x, %x fastmath<nnan> : f32
  // Of some attributes upstream leaves the default out of the generic form, too.
  // GENERIC: "memref.load"(%m, %n) : (memref<4xf32>, index) -> f32
  // CHECK: memref.load %m[%n] : memref<4xf32>
  %3 = memref.load %m[%n] : memref<4xf32>
  return
}
