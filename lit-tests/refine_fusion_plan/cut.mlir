// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx512},func.func(stitch),refine-fusion-plan)' | FileCheck %s
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx512},func.func(stitch),refine-fusion-plan)' --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=SAID
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx512},func.func(stitch),refine-fusion-plan)' --pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=COUNT
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx512},func.func(stitch),refine-fusion-plan{least-saving=99})' | FileCheck %s --check-prefix=ASKED
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx512},func.func(stitch),refine-fusion-plan{max-sites=1})' --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=FEW
// RUN: not sutura-opt %s --pass-pipeline='builtin.module(refine-fusion-plan{least-saving=100})' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: least-saving

#row = affine_map<(m, n, k) -> (m, k)>
#col = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>

// A register tile has 32 columns, and functions of all of them are computed: of two that is dear (where the number of rows is known, these are columns of tiles). Apart they run along all elements.
// CHECK-LABEL: func.func @narrow
// CHECK: %[[PRODUCT:.+]] = graph.fusion
// CHECK: arith.mulf
// CHECK: graph.fusion(%[[PRODUCT]]
// CHECK-SAME: reasons = ["{{.*}}: predicted to be faster apart"]
// CHECK: math.tanh
// CHECK-NOT: graph.fusion
// SAID-DAG: remark: becomes 2 kernels (0 | 1); predicted: one kernel {{[0-9.]+}} us by kernels, {{[0-9.]+}} us in closed form; 2 kernels (0 | 1) {{[0-9.]+}} us by kernels, {{[0-9.]+}} us in closed form
// ASKED-LABEL: func.func @narrow
// ASKED-COUNT-1: graph.fusion
// ASKED-NOT: graph.fusion
// ASKED-LABEL: func.func @wide
func.func @narrow(%a: tensor<?x64xf32, #dyn.shape<[M, 64]>>, %b: tensor<64x2xf32>) -> tensor<?x2xf32, #dyn.shape<[M, 2]>> {
  %M = dyn.symbol "M" {range = [1, 100000], likely = [4096]} : index
  %product = graph.compute ins(%a, %b : tensor<?x64xf32, #dyn.shape<[M, 64]>>, tensor<64x2xf32>) -> tensor<?x2xf32, #dyn.shape<[M, 2]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#row, #col, #out]} {
  ^bb0(%x: f32, %y: f32):
    %xy = arith.mulf %x, %y : f32
    graph.yield %xy : f32
  }
  %power = graph.compute ins(%product : tensor<?x2xf32, #dyn.shape<[M, 2]>>) -> tensor<?x2xf32, #dyn.shape<[M, 2]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%x: f32):
    %t = math.tanh %x : f32
    %e = math.exp %t : f32
    graph.yield %e : f32
  }
  return %power : tensor<?x2xf32, #dyn.shape<[M, 2]>>
}

// Of whole tiles nothing is computed in vain.
// CHECK-LABEL: func.func @wide
// CHECK-COUNT-1: graph.fusion
// CHECK-NOT: graph.fusion
// SAID-DAG: remark: stays one kernel, since 2 kernels (0 | 1) is no faster; predicted:
// FEW: remark: 1 less promising plans are not priced, beyond max-sites = 1
func.func @wide(%a: tensor<4096x64xf32>, %b: tensor<64x128xf32>) -> tensor<4096x128xf32> {
  %product = graph.compute ins(%a, %b : tensor<4096x64xf32>, tensor<64x128xf32>) -> tensor<4096x128xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#row, #col, #out]} {
  ^bb0(%x: f32, %y: f32):
    %xy = arith.mulf %x, %y : f32
    graph.yield %xy : f32
  }
  %power = graph.compute ins(%product : tensor<4096x128xf32>) -> tensor<4096x128xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%x: f32):
    %t = math.tanh %x : f32
    %e = math.exp %t : f32
    graph.yield %e : f32
  }
  return %power : tensor<4096x128xf32>
}

// COUNT: (S) 2 num-priced
// COUNT: (S) 1 num-cut
