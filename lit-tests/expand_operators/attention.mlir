// Attention by name: what it does is the same expanded, it is one region, and the region says of which node it is.
// RUN: sutura-opt %s --operators builtin --propagate-shapes --expand-operators --check-passes -o /dev/null
// RUN: sutura-opt %s --operators builtin --propagate-shapes --expand-operators --canonicalize --cse --stitch --remarks -o %t.out 2>&1 | FileCheck %s --check-prefix=SAID
// RUN: FileCheck %s --input-file=%t.out

!q = tensor<?x2x?x16xf32, #dyn.shape<[B, 2, L, 16]>>
!k = tensor<?x2x?x16xf32, #dyn.shape<[B, 2, S, 16]>>
!m = tensor<?x?xf32, #dyn.shape<[L, S]>>

// SAID: attention '/layer/Attention'
// CHECK-LABEL: func.func @causal
// CHECK: %[[Y:.*]] = graph.fusion(%q, %k, %v
// CHECK: return %[[Y]]
func.func @causal(%q: !q, %k: !k, %v: !k) -> !q {
  %y = graph.apply @attention(%q, %k, %v) {is_causal = 1 : i64} : (!q, !k, !k) -> !q loc("/layer/Attention")
  return %y : !q
}

// CHECK-LABEL: func.func @biased
func.func @biased(%q: !q, %k: !k, %v: !k, %m: !m) -> !q {
  %y = graph.apply @attention_biased(%q, %k, %v, %m) {scale = 0.5 : f32} : (!q, !k, !k, !m) -> !q
  return %y : !q
}
