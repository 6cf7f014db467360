// What an operator of the library applies is of the library: a program that declares something else by that name is refused.
// RUN: not sutura-opt %s --operators builtin 2>&1 | FileCheck %s

// CHECK: error: @attention applies an operator @softmax, and the program declares something else by that name

!a = tensor<?xf32, #dyn.shape<[A]>>
!q = tensor<1x1x2x4xf32>
graph.operator @softmax {summary = "x", elements = [f32], groups = {A}} {
^bb0(%x: !a):
  graph.yield %x : !a
}
func.func @main(%q: !q) -> !q {
  %0 = graph.apply @attention(%q, %q, %q) : (!q, !q, !q) -> !q
  return %0 : !q
}
