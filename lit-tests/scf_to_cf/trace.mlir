// RUN: sutura-opt %s --convert-scf-to-cf -o /dev/null --debug-only=dialect-conversion 2>&1 | FileCheck %s
// RUN: sutura-opt %s --convert-scf-to-cf -o /dev/null --debug --threads=3 2>&1 | FileCheck %s
// RUN: sutura-opt %s --convert-scf-to-cf -o /dev/null --debug-only=greedy-rewriter 2>&1 | FileCheck %s --check-prefix=IDLE

// Each operation is shown with what the target says of it, the patterns tried on it and how what they left was legalized.

// IDLE: warning: `--debug-only=greedy-rewriter` does nothing: no pass that was run has steps of it to write down [W0104]

// CHECK:      // -----// Trace of SCFToControlFlowPass (convert-scf-to-cf) on 'builtin.module' //----- //
// CHECK-NEXT: dialect-conversion {
// CHECK-NEXT:   'func.func' @f at {{.*}}trace.mlir:[[#@LINE+24]]:1 -> stays: the target says nothing of it
// CHECK-NEXT:   inside 'func.func' @f at {{.*}} {
// CHECK-NEXT:     'scf.while' at {{.*}}:[[#@LINE+23]]:8 {
// CHECK-NEXT:       pattern 'do-while-to-blocks' -> does not apply: the second region does more than hand its arguments on
// CHECK-NEXT:       pattern 'while-to-blocks' {
// CHECK-NEXT:         inserted a block
// CHECK-NEXT:         moved a block
// CHECK-NEXT:         moved a block
// CHECK-NEXT:         inserted 'cf.br'
// CHECK-NEXT:         erased 'scf.condition'
// CHECK-NEXT:         inserted 'cf.cond_br'
// CHECK-NEXT:         erased 'scf.yield'
// CHECK-NEXT:         inserted 'cf.br'
// CHECK-NEXT:         replaced 'scf.while' at {{.*}} by block argument #0 : index
// CHECK-NEXT:       } -> applied
// CHECK-NEXT:       'cf.br' at {{.*}} -> legal
// CHECK-NEXT:       'cf.cond_br' at {{.*}} -> legal
// CHECK-NEXT:       'cf.br' at {{.*}} -> legal
// CHECK-NEXT:     } -> legalized
// CHECK-NEXT:     'arith.addi' at {{.*}} -> legal
// CHECK-NEXT:     'func.return' at {{.*}} -> stays: the target says nothing of it
// CHECK-NEXT:   }
// CHECK-NEXT: } -> done

func.func @f(%c: i1, %x: index) -> index {
  %0 = scf.while (%i = %x) : (index) -> index {
    scf.condition(%c) %i : index
  } do {
  ^bb0(%i: index):
    %1 = arith.addi %i, %x : index
    scf.yield %1 : index
  }
  return %0 : index
}
