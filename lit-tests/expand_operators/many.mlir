// Operators that double what they apply come to too many ops.
// RUN: sutura-opt %s --expand-operators --verify-diagnostics

!a = tensor<?xf32, #dyn.shape<[A]>>
graph.operator @o0 {summary = "x", elements = [f32], groups = {A}} {
^bb0(%x: !a):
  %0 = graph.apply @o1(%x) : (!a) -> !a
  %1 = graph.apply @o1(%0) : (!a) -> !a
  graph.yield %1 : !a
}
graph.operator @o1 {summary = "x", elements = [f32], groups = {A}} {
^bb0(%x: !a):
  %0 = graph.apply @o2(%x) : (!a) -> !a
  %1 = graph.apply @o2(%0) : (!a) -> !a
  graph.yield %1 : !a
}
graph.operator @o2 {summary = "x", elements = [f32], groups = {A}} {
^bb0(%x: !a):
  %0 = graph.apply @o3(%x) : (!a) -> !a
  %1 = graph.apply @o3(%0) : (!a) -> !a
  graph.yield %1 : !a
}
graph.operator @o3 {summary = "x", elements = [f32], groups = {A}} {
^bb0(%x: !a):
  %0 = graph.apply @o4(%x) : (!a) -> !a
  %1 = graph.apply @o4(%0) : (!a) -> !a
  graph.yield %1 : !a
}
graph.operator @o4 {summary = "x", elements = [f32], groups = {A}} {
^bb0(%x: !a):
  %0 = graph.apply @o5(%x) : (!a) -> !a
  %1 = graph.apply @o5(%0) : (!a) -> !a
  graph.yield %1 : !a
}
graph.operator @o5 {summary = "x", elements = [f32], groups = {A}} {
^bb0(%x: !a):
  %0 = graph.apply @o6(%x) : (!a) -> !a
  %1 = graph.apply @o6(%0) : (!a) -> !a
  graph.yield %1 : !a
}
graph.operator @o6 {summary = "x", elements = [f32], groups = {A}} {
^bb0(%x: !a):
  %0 = graph.apply @o7(%x) : (!a) -> !a
  %1 = graph.apply @o7(%0) : (!a) -> !a
  graph.yield %1 : !a
}
graph.operator @o7 {summary = "x", elements = [f32], groups = {A}} {
^bb0(%x: !a):
  %0 = graph.apply @o8(%x) : (!a) -> !a
  %1 = graph.apply @o8(%0) : (!a) -> !a
  graph.yield %1 : !a
}
graph.operator @o8 {summary = "x", elements = [f32], groups = {A}} {
^bb0(%x: !a):
  %0 = graph.apply @o9(%x) : (!a) -> !a
  %1 = graph.apply @o9(%0) : (!a) -> !a
  graph.yield %1 : !a
}
graph.operator @o9 {summary = "x", elements = [f32], groups = {A}} {
^bb0(%x: !a):
  %0 = graph.apply @o10(%x) : (!a) -> !a
  %1 = graph.apply @o10(%0) : (!a) -> !a
  graph.yield %1 : !a
}
graph.operator @o10 {summary = "x", elements = [f32], groups = {A}} {
^bb0(%x: !a):
  %0 = graph.apply @o11(%x) : (!a) -> !a
  %1 = graph.apply @o11(%0) : (!a) -> !a
  graph.yield %1 : !a
}
graph.operator @o11 {summary = "x", elements = [f32], groups = {A}} {
^bb0(%x: !a):
  %0 = graph.apply @o12(%x) : (!a) -> !a
  %1 = graph.apply @o12(%0) : (!a) -> !a
  graph.yield %1 : !a
}
graph.operator @o12 {summary = "x", elements = [f32], groups = {A}} {
^bb0(%x: !a):
  %0 = graph.apply @o13(%x) : (!a) -> !a
  %1 = graph.apply @o13(%0) : (!a) -> !a
  graph.yield %1 : !a
}
graph.operator @o13 {summary = "x", elements = [f32], groups = {A}} {
^bb0(%x: !a):
  %0 = graph.apply @o14(%x) : (!a) -> !a
  %1 = graph.apply @o14(%0) : (!a) -> !a
  graph.yield %1 : !a
}
graph.operator @o14 {summary = "x", elements = [f32], groups = {A}} {
^bb0(%x: !a):
  %1 = graph.reshape %x : !a -> !a
  graph.yield %1 : !a
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error-re @below {{'graph.apply' op @o0: {{.*}}stands for more than 10000 ops}}
  %0 = graph.apply @o0(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
