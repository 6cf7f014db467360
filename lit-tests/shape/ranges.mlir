// RUN: sutura-opt %s --propagate-shapes | FileCheck %s
// RUN: not sutura-opt %s --pass-pipeline="builtin.module(declare-dims{dims=A=10,C=20..30:4},propagate-shapes)" 2>&1 | FileCheck %s --check-prefix=CHAIN

// What is known of T is known of S where T is S + 1: its range, and likely values that S may have. What S may not be is likely no more.
// CHECK-LABEL: func.func @next
// CHECK: %S = dyn.symbol "S" {likely = [7], range = [2, 49]} : index
// CHECK: %T = dyn.symbol "T" {div = 4 : i64, likely = [8], range = [3, 50]} : index
func.func @next(%x: tensor<?xf32, #dyn.shape<[S + 1]>>, %y: tensor<?xf32, #dyn.shape<[T]>>) -> tensor<?xf32> {
  %S = dyn.symbol "S" {likely = [80], range = [1, 100]} : index
  %T = dyn.symbol "T" {range = [3, 50], likely = [8], div = 4} : index
  %0 = graph.compute ins(%x, %y : tensor<?xf32, #dyn.shape<[S + 1]>>, tensor<?xf32, #dyn.shape<[T]>>) -> tensor<?xf32> {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    graph.yield %r : f32
  }
  return %0 : tensor<?xf32>
}

// An error says what the program states of the sizes, along the equalities that lead from one to the other.
// CHAIN: 'dyn.equal' op C + 1 and 10 cannot be equal
// CHAIN: note: A is 10
// CHAIN: note: A and 10 are equal: the size that is declared
// CHAIN: note: C is 20 to 28, a multiple of 4
// CHAIN: note: A and B are equal: keys and values
// CHAIN: note: C + 1 and B are equal: mask and values
// CHAIN-NOT: note: K
func.func @chain(%x: tensor<?xf32, #dyn.shape<[A]>>, %y: tensor<?xf32, #dyn.shape<[B]>>, %z: tensor<?xf32, #dyn.shape<[C]>>) {
  %A = dyn.symbol "A" : index
  %B = dyn.symbol "B" : index
  %C = dyn.symbol "C" : index
  %K = dyn.symbol "K" {range = [3, 4]} : index
  dyn.equal [A], [B] {source = "keys and values"}
  dyn.equal [C + 1], [B] {source = "mask and values"}
  return
}
