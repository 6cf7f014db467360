// Tiles in blocks of a dim cover it once: their operations add up to the same polynomial as without blocks. All 64 columns of two panels are
// computed. Each block of 192 rows packs its panels anew, so the bytes that it reads of them depend on the number of blocks.
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx512},func.func(stitch),convert-graph-to-gir,print-gir-cost{sizes=M=1000})' -o /dev/null 2>&1 | FileCheck %s

// CHECK: @p_contract2 at M = 1000: 12 groups, 6144000 flops = 6144*M, 0 special
// CHECK-NEXT: dram: 430080 bytes read = 384*M + 7680*((M + 191) floordiv 192), 160000 written = 160*M

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @p(%a: tensor<?x48xf32, #dyn.shape<[M, 48]>>, %b: tensor<48x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {
  %M = dyn.symbol "M" : index
  %p = graph.compute ins(%a, %b : tensor<?x48xf32, #dyn.shape<[M, 48]>>, tensor<48x40xf32>) -> tensor<?x40xf32, #dyn.shape<[M, 40]>> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#a, #b, #c]} {
  ^bb0(%l: f32, %r: f32):
    %m = arith.mulf %l, %r : f32
    graph.yield %m : f32
  }
  return %p : tensor<?x40xf32, #dyn.shape<[M, 40]>>
}
