// The search over mappings of rows: the remark says what was tried, and why which is taken.

// DEFINE: %{regions} = attach-target{name=x86_avx512},func.func(canonicalize,stitch)
// RUN: sutura-opt %s --split-input-file --pass-pipeline='builtin.module(%{regions},convert-graph-to-gir{search=predict})' --verify-diagnostics --remarks-filter-analyse=convert-graph-to-gir | FileCheck %s

// CHECK: gir.kernel
func.func @elementwise(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" {likely = [512]} : index
  %N = dyn.symbol "N" {likely = [20000]} : index
  // expected-remark @+1 {{4 schedules tried, taken is usual, since others save less than 5 %; predicted: columns=all}}
  %h = graph.compute ins(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
  } {
  ^bb0(%a: f32):
    %p = arith.mulf %a, %a : f32
    graph.yield %p : f32
  }
  return %h : tensor<?x?xf32, #dyn.shape<[M, N]>>
}

// -----

// A group reads the scale for its rows: fewer rows read it more often, which is next to nothing.
// CHECK: gir.kernel
func.func @scaled(%x: tensor<?x768xf32, #dyn.shape<[M, 768]>>, %v: tensor<768xf32>) -> tensor<?x768xf32, #dyn.shape<[M, 768]>> {
  %M = dyn.symbol "M" {likely = [128]} : index
  // expected-remark @+2 {{a group has 16 of M rows and reads %v once for all of them; up to 64 rows are groups of their own}}
  // expected-remark @+1 {{3 schedules tried, taken is usual, since others save less than 5 %; predicted: rows=4 12.}}
  %h = graph.compute ins(%x, %v : tensor<?x768xf32, #dyn.shape<[M, 768]>>, tensor<768xf32>) -> tensor<?x768xf32, #dyn.shape<[M, 768]>> {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>]
  } {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    graph.yield %p : f32
  }
  return %h : tensor<?x768xf32, #dyn.shape<[M, 768]>>
}
