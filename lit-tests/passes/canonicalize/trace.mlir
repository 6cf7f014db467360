// RUN: sutura-opt %s --canonicalize -o /dev/null --debug-only=greedy-rewriter 2>&1 | FileCheck %s
// RUN: sutura-opt %s --canonicalize=enable-patterns=trunci_of_ext --debug -o /dev/null 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: not sutura-opt %s --canonicalize --debug-only=greedy-rewrite 2>&1 | FileCheck %s --check-prefix=TYPO

// Each operation is shown with the patterns that were tried on it, and why those that did not apply did not.

// TYPO: error: `--debug-only` knows no component `greedy-rewrite`; did you mean `greedy-rewriter`? [E0402]

// CHECK:      // -----// Trace of Canonicalizer (canonicalize) on 'builtin.module' //----- //
// CHECK-NEXT: in 'func.func' @f {
// CHECK-NEXT:   greedy-rewriter {
// CHECK-NEXT:     iteration 1 {
// CHECK:            'arith.trunci' at {{.*}}trace.mlir:[[#@LINE+28]]:8 {
// CHECK-NEXT:         pattern 'trunci_of_ext' -> does not apply: its operand is not widened by `arith.extsi` or `arith.extui`
// CHECK-NEXT:         pattern 'trunci_of_trunci' -> does not apply: operand #0 of `TruncIOp` is not the result of `TruncIOp`
// CHECK-NEXT:       } -> stays
// CHECK:            'arith.select' at {{.*}}:[[#@LINE+26]]:8 {
// CHECK-NEXT:         pattern 'select_of_complement' -> does not apply: operand #1 of `XOrIOp` is no constant
// CHECK-NEXT:         pattern 'select_of_select' -> does not apply: neither side is an `arith.select` on the same condition
// CHECK-NEXT:         pattern 'select_of_booleans' -> does not apply: operand #0 of `SelectOp` has another type than `ty`
// CHECK:            } -> stays
// CHECK-NEXT:       'arith.muli' at {{.*}}:[[#@LINE+22]]:8 {
// CHECK-NEXT:         inserted 'arith.constant' 6 : i32 at {{.*}}:[[#@LINE+21]]:8
// CHECK-NEXT:       } -> folded to 'arith.constant' 6 : i32 at {{.*}}:[[#@LINE+20]]:8
// CHECK:            'cf.cond_br' at
// CHECK-NEXT:         pattern 'branch_on_constant' -> does not apply: the condition is no constant
// CHECK:            regions are simplified {
// CHECK-NEXT:         erased a block of 1 operation
// CHECK:          } -> something changed
// CHECK-NEXT:     iteration 2 {
// CHECK:          } -> nothing changed
// CHECK-NEXT:   } -> nothing is left to do

// ONE:     pattern 'trunci_of_ext'
// ONE-NOT: pattern 'select_of
// ONE:     'arith.select' at {{.*}} -> stays: no fold, no pattern for it

func.func @f(%x: i32, %c: i1, %d: i1, %a: i32, %b: i32) -> (i8, i32) {
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %2 = arith.trunci %x : i32 to i8
  %3 = arith.xori %c, %d : i1
  %4 = arith.select %3, %a, %b : i32
  %5 = arith.muli %c2, %c3 : i32
  cf.cond_br %d, ^left, ^right
^left:
  return %2, %4 : i8, i32
^right:
  return %2, %5 : i8, i32
^never:
  return %2, %a : i8, i32
}
