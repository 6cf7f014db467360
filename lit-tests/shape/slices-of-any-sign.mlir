// RUN: sutura-opt %s --propagate-shapes | FileCheck %s
// RUN: sutura-opt %s --propagate-shapes | sutura-opt --propagate-shapes | FileCheck %s

!n = tensor<?xf32, #dyn.shape<[N]>>
!m = tensor<?xf32, #dyn.shape<[M]>>

// Only a run tells whether this slice begins at an element or counts from the end: `x[n - m:]`. Where it begins, and how many
// elements it takes, is arithmetic on sizes. No range says that what is read lies inside, so it is read with a value for what
// does not.
// CHECK-LABEL: func.func @either
// CHECK-NOT: graph.slice
// CHECK: graph.compute ins(%x : {{.*}}oob = [
// CHECK-NOT: graph.slice
func.func @either(%x: !n, %y: !m) -> tensor<?xf32> {
  %N = dyn.symbol "N" : index
  %M = dyn.symbol "M" : index
  %n = graph.shape_of %x : !n -> tensor<1xi64>
  %m = graph.shape_of %y : !m -> tensor<1xi64>
  %start = graph.compute ins(%n, %m : tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64> {
    iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
  } {
  ^bb0(%a: i64, %b: i64):
    %0 = arith.subi %a, %b : i64
    graph.yield %0 : i64
  }
  %end = graph.constant dense<9223372036854775807> : tensor<1xi64>
  %z = graph.slice %x[%start, %end] {axes = array<i64: 0>, steps = array<i64: 1>}
      : !n, tensor<1xi64>, tensor<1xi64> -> tensor<?xf32>
  return %z : tensor<?xf32>
}
