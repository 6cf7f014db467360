// What a declaration says of its operator is used, and said.
// RUN: sutura-opt %s --graph-operator-rewrite --check-passes | FileCheck %s
// RUN: sutura-opt %s --graph-operator-rewrite --remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=SAID

#s = affine_map<(s) -> (s)>
!s = tensor<?xf32, #dyn.shape<[S]>>

graph.operator @magnitude {
  summary = "|x|", elements = [f32], groups = {S}, laws = ["idempotent"]
} {
^bb0(%x: !s):
  %y = graph.compute ins(%x : !s) -> !s {iterators = #graph.iterators<[parallel]>, maps = [#s, #s]} {
  ^bb0(%e: f32):
    %r = math.absf %e : f32
    graph.yield %r : f32
  }
  graph.yield %y : !s
}

// SAID: remark: {{.*}}magnitude
// CHECK-LABEL: func.func @twice
// CHECK: graph.apply @magnitude
// CHECK-NOT: graph.apply
// CHECK: return
func.func @twice(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %a = graph.apply @magnitude(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %b = graph.apply @magnitude(%a) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return %b : tensor<3x4xf32>
}
