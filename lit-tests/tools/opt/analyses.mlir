// An analysis is computed once as long as passes preserve it; the statistics say how often.
// RUN: sutura-opt %s --pass-pipeline='builtin.module(func.func(cse,cse,loop-invariant-code-motion,mem2reg,print-analysis{analysis=dominance},canonicalize,cse))' --pass-statistics -o /dev/null 2>&1 | FileCheck %s --check-prefix=FUNC
// RUN: sutura-opt %s --pass-pipeline='builtin.module(sccp,sccp,print-analysis{analysis=call-graph},func.func(strip-debuginfo),print-analysis{analysis=call-graph},func.func(canonicalize),print-analysis{analysis=call-graph},inline,dce,dce)' --pass-statistics -o /dev/null 2>&1 | FileCheck %s --check-prefix=MODULE
// RUN: sutura-opt %s --pass-pipeline='builtin.module(cse,func.func(cse))' --pass-statistics -o /dev/null 2>&1 | FileCheck %s --check-prefix=NESTED
// RUN: sutura-opt %s --cse --cse --timing -o /dev/null 2>&1 | FileCheck %s --check-prefix=TIME

// FUNC:      CSE
// FUNC:        (A) DominanceInfo: computed 1, reused 0
// FUNC-NEXT:   (A) AliasAnalysis: computed 1, reused 0
// The first one erased operations, which leaves both true.
// FUNC-NEXT: CSE
// FUNC:        (A) DominanceInfo: computed 0, reused 1
// FUNC-NOT:    computed 1
// FUNC:      LoopInvariantCodeMotion
// Operations have moved.
// FUNC-NOT:    DominanceInfo
// FUNC:        (A) AliasAnalysis: computed 0, reused 1
// FUNC:      Mem2Reg
// FUNC-NOT:    (A)
// FUNC:      PrintAnalysis
// FUNC-NEXT:   (A) DominanceInfo: computed 1, reused 0
// FUNC:      Canonicalizer
// FUNC:        (S) {{[1-9]}} num-rewritten
// FUNC:      CSE
// FUNC-NOT:    (A)

// MODULE:      SCCP
// MODULE:        (A) Constants: computed 1, reused 0
// MODULE-NEXT: SCCP
// MODULE:        (A) Constants: computed 0, reused 1
// MODULE-NEXT: PrintAnalysis
// MODULE-NEXT:   (A) CallGraph: computed 1, reused 0
// MODULE:      StripDebugInfo
// MODULE-NEXT: PrintAnalysis
// MODULE-NEXT:   (A) CallGraph: computed 0, reused 1
// A pass on a function makes untrue what is known of the module.
// MODULE:      Canonicalizer
// MODULE:      PrintAnalysis
// MODULE-NEXT:   (A) CallGraph: computed 1, reused 0
// MODULE-NEXT: Inliner
// MODULE:        (A) CallGraph: computed 0, reused 1
// MODULE-NEXT: DCE
// MODULE:        (A) Demanded: computed 1, reused 0
// MODULE-NEXT: DCE
// MODULE:        (A) Demanded: computed 0, reused 1

// What a pass on the module found out about functions, passes on the functions use.
// NESTED:      CSE
// NESTED:        (A) DominanceInfo: computed 1, reused 0
// NESTED:      CSE
// NESTED:        (A) DominanceInfo: computed 0, reused 1

// TIME:     CSE
// TIME-NEXT:  (A) DominanceInfo
// TIME:     CSE
// TIME-NOT:   (A) DominanceInfo

func.func @reads(%m: memref<4xf32>, %a: memref<4xf32>, %i: index, %n: index, %c: i1) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %own = memref.alloc() : memref<4xf32>
  %0 = memref.load %m[%i] : memref<4xf32>
  memref.store %0, %own[%i] : memref<4xf32>
  %1 = memref.load %m[%i] : memref<4xf32>
  %sum = arith.addf %0, %1 : f32
  scf.for %j = %c0 to %n step %c1 {
    %product = arith.mulf %sum, %sum : f32
    memref.store %product, %a[%j] : memref<4xf32>
  }
  cf.cond_br %c, ^b, ^c
^b:
  cf.br ^c
^c:
  return %sum : f32
}
