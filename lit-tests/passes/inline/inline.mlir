// RUN: sutura-opt %s --inline | FileCheck %s
// RUN: sutura-opt %s --inline --remarks --mlir-pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=SAID
// RUN: sutura-opt %s --inline="default-pipeline=" | FileCheck %s --check-prefix=PLAIN
// RUN: sutura-opt %s --inline=inlining-threshold=0 --remarks 2>&1 | FileCheck %s --check-prefix=SMALL
// RUN: sutura-opt %s --inline=max-iterations=0 --remarks 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not sutura-opt %s --inline=default-pipeline=canonicalise 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not sutura-opt %s --pass-pipeline='builtin.module(func.func(inline))' 2>&1 | FileCheck %s --check-prefix=WHERE

// SAID: remark: call of '@itself' is not inlined: the callee is recursive
// SAID: remark: call of '@itself' is not inlined: the callee is recursive
// SAID: remark: call of '@branches' is not inlined: the callee has several blocks, and the region around the call has one
// SAID: remark: call of '@never' is not inlined: the function is marked 'no_inline'
// SAID: remark: call of '@stack' is not inlined: it allocates on the stack, and the call is in a loop
// SAID: (S) 4 num-inlined
// SAID: (S) 6 num-not-inlined
// SAID: (S) 1 num-erased

// BAD: error: {{.*}}canonicalise
// WHERE: error: 'inline' needs a symbol table, which 'func.func' is not
// SMALL-DAG: remark: call of '@sum' is not inlined: it has {{[0-9]+}}% of the caller's operations, more than the threshold
// SMALL-DAG: call @sum
// NONE-DAG: remark: 1 calls stay: `max-iterations` is reached
// NONE-DAG: call @sum

// A function to which nothing refers any more goes; one that is public stays.

// CHECK-NOT: @sum(
func.func private @sum(%a: i32, %b: i32) -> (i32, i32) {
  %s = arith.addi %a, %b : i32
  return %s, %b : i32, i32
}

// CHECK: func.func @middle(
// CHECK-NEXT: arith.addi
// CHECK-NEXT: arith.muli
func.func @middle(%a: i32) -> i32 {
  %r, %q = call @sum(%a, %a) : (i32, i32) -> (i32, i32)
  %p = arith.muli %r, %q : i32
  return %p : i32
}

// Callees come first, so that a call of a function that calls disappears in one go. Constants meet what they are used by.

// CHECK-LABEL: func.func @top(
// CHECK-NEXT:    %[[C:.*]] = arith.constant 18 : i32
// CHECK-NEXT:    return %[[C]]
// PLAIN-LABEL: func.func @top(
// PLAIN-NEXT:    %[[C:.*]] = arith.constant 3 : i32
// PLAIN-NEXT:    %[[S:.*]] = arith.addi %[[C]], %[[C]]
// PLAIN-NEXT:    %[[P:.*]] = arith.muli %[[S]], %[[C]]
// PLAIN-NEXT:    return %[[P]]
func.func @top() -> i32 {
  %three = arith.constant 3 : i32
  %r = call @middle(%three) : (i32) -> i32
  return %r : i32
}

func.func private @branches(%c: i1, %a: i32) -> i32 {
  cf.cond_br %c, ^yes, ^no
^yes:
  return %a : i32
^no:
  %s = arith.addi %a, %a : i32
  return %s : i32
}

// Blocks of the callee come between what is before the call and what is behind it.

// CHECK-LABEL: func.func @blocks(
// CHECK-SAME:    %[[C:.*]]: i1, %[[X:.*]]: i32
// CHECK:         arith.muli
// CHECK:         cf.cond_br %[[C]], ^[[END:.*]](%[[X]] : i32), ^[[NO:.*]]
// CHECK:       ^[[NO]]:
// CHECK-NEXT:    %[[S:.*]] = arith.addi %[[X]], %[[X]]
// CHECK-NEXT:    cf.br ^[[END]](%[[S]] : i32)
// CHECK:       ^[[END]](%[[R:.*]]: i32):
// CHECK-NEXT:    arith.subi %[[R]]
func.func @blocks(%c: i1, %x: i32) -> i32 {
  %m = arith.muli %x, %x : i32
  %r = call @branches(%c, %x) : (i1, i32) -> i32
  %d = arith.subi %r, %m : i32
  return %d : i32
}

// CHECK-LABEL: func.func private @itself(
// CHECK:         call @itself
func.func private @itself(%c: i1, %a: i32) -> i32 {
  cf.cond_br %c, ^more, ^end
^more:
  %r = call @itself(%c, %a) : (i1, i32) -> i32
  return %r : i32
^end:
  return %a : i32
}

func.func private @never(%a: i32) -> i32 attributes {no_inline} {
  return %a : i32
}

func.func private @elsewhere(i32) -> i32

func.func private @stack(%a: i32) -> i32 {
  %m = memref.alloca() : memref<4xi32>
  %i = arith.constant 0 : index
  memref.store %a, %m[%i] : memref<4xi32>
  %r = memref.load %m[%i] : memref<4xi32>
  return %r : i32
}

// CHECK-LABEL: func.func @stay(
// CHECK:         call @itself
// CHECK:         scf.if
// CHECK:           call @branches
// CHECK:         call @never
// CHECK:         call @elsewhere
// CHECK:         memref.alloca
// CHECK:         scf.for
// CHECK:           call @stack
func.func @stay(%c: i1, %a: i32, %n: index) -> (i32, i32, i32, i32, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = call @itself(%c, %a) : (i1, i32) -> i32
  %s = scf.if %c -> (i32) {
    %k = func.call @branches(%c, %a) : (i1, i32) -> i32
    scf.yield %k : i32
  } else {
    scf.yield %a : i32
  }
  %t = call @never(%a) : (i32) -> i32
  %u = call @elsewhere(%t) : (i32) -> i32
  %w = call @stack(%a) : (i32) -> i32
  %v = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> (i32) {
    %k = func.call @stack(%x) : (i32) -> i32
    scf.yield %k : i32
  }
  return %r, %s, %u, %v, %w : i32, i32, i32, i32, i32
}

// A dialect that does not say that its operations may be copied keeps them where they are.

module @inner {
  func.func private @last() {
    return
  }
}

// Where a copy comes from is kept: the callee's place, at the call's.

// RUN: sutura-opt %s --inline="default-pipeline=" --mlir-print-debuginfo | FileCheck %s --check-prefix=LOC
// LOC: loc(callsite(

// A private function that nobody called is not this pass's to erase, nor is what it calls.

// PLAIN: func.func private @held(
// PLAIN: func.func private @unused(
func.func private @held(%c: i1, %a: i32) -> i32 {
  cf.cond_br %c, ^yes, ^no
^yes:
  return %a : i32
^no:
  return %a : i32
}
func.func private @unused(%c: i1, %a: i32) -> i32 {
  %r = scf.if %c -> (i32) {
    %k = func.call @held(%c, %a) : (i1, i32) -> i32
    scf.yield %k : i32
  } else {
    scf.yield %a : i32
  }
  return %r : i32
}
