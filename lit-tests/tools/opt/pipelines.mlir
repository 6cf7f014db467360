// RUN: sutura-opt %s --pass-pipeline='builtin.module(func.func(canonicalize{max-iterations=3},cse),symbol-dce)' --dump-pass-pipeline -o %t 2>&1 | FileCheck %s --check-prefix=DUMP
// RUN: not sutura-opt %s --pass-pipeline='builtin.module(func.func(canonicalise))' 2>&1 | FileCheck %s --check-prefix=TYPO
// RUN: not sutura-opt %s --pass-pipeline='cse' 2>&1 | FileCheck %s --check-prefix=ANCHOR
// RUN: not sutura-opt %s --pass-pipeline='func.func(cse)' 2>&1 | FileCheck %s --check-prefix=ROOT
// RUN: sutura-opt %s --pass-pipeline='builtin.module(scf.for(cse))' -o %t 2>&1 | FileCheck %s --check-prefix=IDLE
// RUN: not sutura-opt %s --pass-pipeline='builtin.module(scf.for(cse))' --strict -o %t 2>&1 | FileCheck %s --check-prefix=IDLE
// RUN: sutura-opt %s --pass-pipeline='builtin.module(builtin.module(func.func(cse)))' -o %t 2>&1 | FileCheck %s --check-prefix=PLACE

// DUMP:      Pass Manager with 3 passes:
// DUMP-NEXT: builtin.module(func.func(canonicalize{max-iterations=3},cse),symbol-dce)

// TYPO:      <pass-pipeline>:1:26: error: 'canonicalise' does not refer to a registered pass or pass pipeline
// TYPO-NEXT: builtin.module(func.func(canonicalise))
// TYPO:      did you mean `canonicalize`?

// ANCHOR: error: expected pass pipeline to be wrapped with the anchor operation type, e.g. 'builtin.module(...)'
// ANCHOR: write `builtin.module(cse)`

// ROOT: error: can't run 'func.func' pass manager on 'builtin.module' op
// ROOT: write the pipeline as `builtin.module(

// IDLE: warning: pass 'cse' ran on no operation: there is no 'builtin.module/scf.for' in the input [W0101]
// IDLE: the input has no 'scf.for' operation that owns a body

// PLACE: warning: pass 'cse' ran on no operation
// PLACE: it could run as `builtin.module(func.func(cse))`

func.func @f() {
  return
}
