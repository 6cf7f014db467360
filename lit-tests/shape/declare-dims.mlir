// RUN: sutura-opt %s --declare-dims=dims=S=1..512:8,B=4 | FileCheck %s
// RUN: sutura-opt %s --pass-pipeline="builtin.module(declare-dims{dims=S=1..512:8,B=4},propagate-shapes)" | FileCheck %s --check-prefix=THEN
// RUN: sutura-opt %s --declare-dims | FileCheck %s --check-prefix=NONE
// RUN: not sutura-opt %s --declare-dims=dims=K=4 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not sutura-opt %s --declare-dims=dims=S=1..20:32 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not sutura-opt %s --declare-dims=dims=S=4..1 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not sutura-opt %s --declare-dims=dims=S=4,S=5 2>&1 | FileCheck %s --check-prefix=TWICE

// UNKNOWN: no function has a size 'K'
// EMPTY: 'S' would have no value: S=1..20:32 is declared, and the program says 2..100:1
// WRONG: `S=4..1` allows no value
// TWICE: `S` is given twice

// A range is narrowed to multiples, and likely values that are none go; a size with one value equals it.
// CHECK-LABEL: func.func @f
// CHECK-DAG: %S = dyn.symbol "S" {div = 8 : i64, likely = [64], range = [8, 96]} : index
// CHECK-DAG: %B = dyn.symbol "B" {range = [4, 4]} : index
// CHECK-DAG: dyn.equal [B], [4] {source = "the size that is declared"}
// THEN-LABEL: func.func @f
// THEN-SAME: (%x: tensor<4x?xf32, #dyn.shape<[4, S]>>) -> tensor<4x?xf32, #dyn.shape<[4, S]>>
// NONE-LABEL: func.func @f
// NONE: %S = dyn.symbol "S" {likely = [64, 7], range = [2, 100]} : index
func.func @f(%x: tensor<?x?xf32, #dyn.shape<[B, S]>>) -> tensor<?x?xf32> {
  %S = dyn.symbol "S" {likely = [64, 7], range = [2, 100]} : index
  %0 = graph.compute ins(%x : tensor<?x?xf32, #dyn.shape<[B, S]>>) -> tensor<?x?xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]} {
  ^bb0(%p: f32):
    %q = arith.addf %p, %p : f32
    graph.yield %q : f32
  }
  return %0 : tensor<?x?xf32>
}

// Without the size it stays as it is.
// CHECK-LABEL: func.func @g
// CHECK-NOT: dyn.symbol
func.func @g(%x: tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
  return %x : tensor<?xf32, #dyn.shape<[N]>>
}
