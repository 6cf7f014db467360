// Products of bf16 on AMX. Even and odd places are summed apart, as the description says, so infinities meet in another order than in
// the program: random programs compare finite numbers (`passes/src/narrow_products/tests.rs`).

// DEFINE: %{gir} = attach-target{name=x86_amx},narrow-products,split-products,func.func(stitch),convert-graph-to-gir,tensorize
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_amx},narrow-products)' --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: sutura-opt %s --pass-pipeline='builtin.module(%{gir})' | FileCheck %s
// RUN: sutura-opt %s --pass-pipeline='builtin.module(%{gir},convert-gir-to-cpu)' | FileCheck %s --check-prefix=CPU

#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>

// REMARK: a product becomes one of factors of bf16, 32 places at a time, by @tdpbf16ps
// CHECK: gir.load {{.*}} : !gir.slice<dram, bf16, [16, 32]> -> !gir.tile<tmm, bf16, [16, 32]>
// CHECK: gir.intrinsic @tdpbf16ps({{.*}} -> !gir.tile<tmm, f32, [16, 16]>
// CPU: llvm.call_intrinsic "llvm.x86.tdpbf16ps.internal"
func.func @floats(%a: tensor<13x33xbf16>, %b: tensor<33x16xbf16>) -> tensor<13x16xf32> {
  %p = graph.compute ins(%a, %b : tensor<13x33xbf16>, tensor<33x16xbf16>) -> tensor<13x16xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
  ^bb0(%x: bf16, %w: bf16):
    %0 = arith.extf %x : bf16 to f32
    %1 = arith.extf %w : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    graph.yield %2 : f32
  }
  return %p : tensor<13x16xf32>
}
