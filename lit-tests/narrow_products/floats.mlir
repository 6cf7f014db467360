// Products of bf16 become dot products where the machine has them, and products of f32 elsewhere. Sums of huge numbers may overflow in another
// order, so what a pass makes is compared by tests with bounds.

// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx512_dot},narrow-products)' | FileCheck %s
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx512_dot},narrow-products)' --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx512_dot},narrow-products,func.func(stitch),convert-graph-to-gir,tensorize,convert-gir-to-cpu)' | FileCheck %s --check-prefix=CPU
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx512},narrow-products)' | FileCheck %s --check-prefix=WIDE
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx512},narrow-products)' --check-passes=2 --strict -o /dev/null

#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#km = affine_map<(d0, d1, d2) -> (d2, d0)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>

// CPU: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"({{.*}}) : (vector<16xf32>, vector<32xbf16>, vector<32xbf16>) -> vector<16xf32>
// WIDE: graph.compute ins(%a : tensor<8x5xbf16>) -> tensor<8x5xf32>
// WIDE: arith.extf
// WIDE-NOT: graph.narrow

// Places of the sum do not lie side by side in the left factor: a copy of it has them so. What the result is rounded to comes behind.
// CHECK-LABEL: func.func @laid_out
// CHECK: %[[L:.*]] = graph.compute ins(%a : tensor<8x5xbf16>) -> tensor<5x8xbf16>
// CHECK: graph.compute ins(%[[L]], %b : {{.*}} -> tensor<5x3xf32> {{.*}}graph.narrow
// CHECK: arith.truncf
// REMARK: remark: a product becomes one of factors of bf16, 2 places at a time, by @vdpbf16ps
func.func @laid_out(%a: tensor<8x5xbf16>, %b: tensor<8x3xbf16>) -> tensor<5x3xbf16> {
  %y = graph.compute ins(%a, %b : tensor<8x5xbf16>, tensor<8x3xbf16>) -> tensor<5x3xbf16> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#km, #kn, #mn]} {
  ^bb0(%p: bf16, %q: bf16):
    %0 = arith.extf %p : bf16 to f32
    %1 = arith.extf %q : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    graph.yield %2 : f32
  }
  return %y : tensor<5x3xbf16>
}
