// The search over mappings: 48 columns are three panels of 16, and two of 32 of which a quarter would be computed in vain.

// DEFINE: %{regions} = attach-target{name=x86_avx512},func.func(canonicalize,stitch)
// RUN: sutura-opt %s --pass-pipeline='builtin.module(%{regions},convert-graph-to-gir{search=predict})' --verify-diagnostics --remarks-filter-analyse=convert-graph-to-gir | FileCheck %s --check-prefix=PREDICT
// RUN: sutura-opt %s --pass-pipeline='builtin.module(%{regions},convert-graph-to-gir)' | FileCheck %s --check-prefix=OFF
// RUN: sutura-opt %s --pass-pipeline='builtin.module(%{regions},convert-graph-to-gir{search=predict})' --threads=1 -o %t.once
// RUN: sutura-opt %s --pass-pipeline='builtin.module(%{regions},convert-graph-to-gir{search=predict})' --threads=8 -o %t.many
// RUN: diff %t.once %t.many
// RUN: not sutura-opt %s --convert-graph-to-gir=search=measure 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: search

// PREDICT-LABEL: gir.kernel @main_contract
// PREDICT: gir.contract {{.*}} !gir.tile<vec, f32, [12, 16]>
// PREDICT-NOT: [12, 32]
// OFF-LABEL: gir.kernel @main_contract
// OFF: gir.contract {{.*}} !gir.tile<vec, f32, [12, 32]>
// OFF-NOT: [12, 16]

func.func @main(%x: tensor<?x64xf32, #dyn.shape<[M, 64]>>, %w: tensor<64x48xf32>)
    -> tensor<?x48xf32, #dyn.shape<[M, 48]>> {
  %M = dyn.symbol "M" {range = [0, 4096], likely = [1200]} : index
  // expected-remark @+2 {{is a product: rows (M), columns (48), sums over (64); tiles of 12x16}}
  // expected-remark @+1 {{4 schedules tried, taken is tile=12x16, which is predicted to be fastest; predicted: tile=12x16}}
  %h = graph.compute ins(%x, %w : tensor<?x64xf32, #dyn.shape<[M, 64]>>, tensor<64x48xf32>) -> tensor<?x48xf32, #dyn.shape<[M, 48]>> {
    iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>,
    maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>]
  } {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    graph.yield %p : f32
  }
  return %h : tensor<?x48xf32, #dyn.shape<[M, 48]>>
}
