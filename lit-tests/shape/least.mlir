// Slices of a dimension that may be shorter than they ask for take what there is: the lesser of two sizes.

// RUN: sutura-opt %s --propagate-shapes | FileCheck %s
// RUN: sutura-opt %s --propagate-shapes | sutura-opt --propagate-shapes | FileCheck %s
// RUN: sutura-opt %s --propagate-shapes --stitch --convert-graph-to-gir | FileCheck %s --check-prefix=KERNEL
// RUN: sutura-opt %s --propagate-shapes --stitch --convert-graph-to-gir --convert-gir-to-cpu --check-passes=6 --strict -o /dev/null

!x = tensor<?x?x4xf32, #dyn.shape<[B, N, 4]>>
!any = tensor<?x?x4xf32>

// CHECK-DAG: #[[SAME:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG: #[[LAST:.*]] = affine_map<(d0, d1, d2)[s0] -> (d0, d1 + s0, d2)>

// CHECK-LABEL: func.func @first
// CHECK-SAME: -> tensor<?x?x4xf32, #dyn.shape<[B, min(N, 5), 4]>>
// CHECK-NOT: graph.slice
// CHECK: graph.compute ins(%x : {{.*}}maps = [#[[SAME]]
// KERNEL-LABEL: gir.kernel @first_row0(
// KERNEL-SAME: !gir.view<dram, f32, [B, min(N, 5), 4]> out
// KERNEL-SAME: dims(%B : [0, 2147483647], %N : [0, 2147483647])
// KERNEL: gir.slice %{{.*}} : !gir.view<dram, f32, [B, 4*N]> -> !gir.slice<dram, f32, [1, 4*min(N, 5)]>
func.func @first(%x: !x) -> !any {
  %0 = graph.slice %x {axes = array<i64: 1>, starts = array<i64: 0>, ends = array<i64: 5>, steps = array<i64: 1>} : !x -> !any
  return %0 : !any
}

// CHECK-LABEL: func.func @last
// CHECK-SAME: -> tensor<?x?x4xf32, #dyn.shape<[B, min(N, 3), 4]>>
// CHECK: graph.compute ins(%x : {{.*}}maps = [#[[LAST]], #[[SAME]]], sizes = #dyn.shape<[N - min(N, 3)]>
// KERNEL-LABEL: gir.kernel @last_row0(
func.func @last(%x: !x) -> !any {
  %0 = graph.slice %x {axes = array<i64: 1>, starts = array<i64: -3>, ends = array<i64: 9223372036854775807>, steps = array<i64: 1>} : !x -> !any
  return %0 : !any
}

// CHECK-LABEL: func.func @behind
// CHECK-SAME: -> tensor<?x?x4xf32, #dyn.shape<[B, N - min(N, 3), 4]>>
func.func @behind(%x: !x) -> !any {
  %0 = graph.slice %x {axes = array<i64: 1>, starts = array<i64: 3>, ends = array<i64: 9223372036854775807>, steps = array<i64: 1>} : !x -> !any
  return %0 : !any
}

// CHECK-LABEL: func.func @between
// CHECK-SAME: -> tensor<?x?x4xf32, #dyn.shape<[B, -min(N, 2) + min(N, 7), 4]>>
func.func @between(%x: !x) -> !any {
  %0 = graph.slice %x {axes = array<i64: 1>, starts = array<i64: 2>, ends = array<i64: 7>, steps = array<i64: 1>} : !x -> !any
  return %0 : !any
}

// The lesser of three is one of two where two are numbers.
// CHECK-LABEL: func.func @twice
// CHECK-SAME: -> tensor<?x?x4xf32, #dyn.shape<[B, min(N, 5), 4]>>
func.func @twice(%x: !x) -> !any {
  %0 = graph.slice %x {axes = array<i64: 1>, starts = array<i64: 0>, ends = array<i64: 9>, steps = array<i64: 1>} : !x -> !any
  %1 = graph.slice %0 {axes = array<i64: 1>, starts = array<i64: 0>, ends = array<i64: 5>, steps = array<i64: 1>} : !any -> !any
  return %1 : !any
}

// Where the range says which is less, nothing is left to decide.
// CHECK-LABEL: func.func @known
// CHECK-SAME: -> (tensor<5x4xf32>, tensor<?x4xf32, #dyn.shape<[N, 4]>>)
func.func @known(%x: tensor<?x4xf32, #dyn.shape<[N, 4]>>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %N = dyn.symbol "N" {range = [5, 64]} : index
  %0 = graph.slice %x {axes = array<i64: 0>, starts = array<i64: 0>, ends = array<i64: 5>, steps = array<i64: 1>} : tensor<?x4xf32, #dyn.shape<[N, 4]>> -> tensor<?x4xf32>
  %1 = graph.slice %x {axes = array<i64: 0>, starts = array<i64: -64>, ends = array<i64: 64>, steps = array<i64: 1>} : tensor<?x4xf32, #dyn.shape<[N, 4]>> -> tensor<?x4xf32>
  return %0, %1 : tensor<?x4xf32>, tensor<?x4xf32>
}

// What is read at a sum of sizes and must be as long as one of them is checked before the run, and read with bounds.
// CHECK-LABEL: func.func @positions
// CHECK: dyn.equal [S], [-min(P, 12) + min(P + S, 12)] {source = "add: dimension 0 of input 0 and dimension 0 of input 1"}
// CHECK: graph.compute ins(%table : {{.*}} -> tensor<?xf32, #dyn.shape<[S]>> {{.*}}oob = [0.0
func.func @positions(%x: tensor<?xf32, #dyn.shape<[S]>>, %past: tensor<?xf32, #dyn.shape<[P]>>, %table: tensor<12xf32>) -> tensor<?xf32> {
  %start = graph.shape_of %past : tensor<?xf32, #dyn.shape<[P]>> -> tensor<1xi64>
  %new = graph.shape_of %x : tensor<?xf32, #dyn.shape<[S]>> -> tensor<1xi64>
  %end = graph.compute ins(%start, %new : tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64> {
    iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
  } {
  ^bb0(%p: i64, %q: i64):
    %0 = arith.addi %p, %q : i64
    graph.yield %0 : i64
  }
  %cut = graph.slice %table[%start, %end] {axes = array<i64: 0>, steps = array<i64: 1>} : tensor<12xf32>, tensor<1xi64>, tensor<1xi64> -> tensor<?xf32>
  %y = graph.compute ins(%x, %cut : tensor<?xf32, #dyn.shape<[S]>>, tensor<?xf32>) -> tensor<?xf32> {
    iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
  } {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    graph.yield %0 : f32
  } loc("add")
  return %y : tensor<?xf32>
}
