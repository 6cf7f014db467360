// The first tile of rows waits for a right factor that a unit's own cache does not hold; the others find its panel there. So the first one is as high
// as it can be. Of factors that stay near, tiles are even.

// DEFINE: %{regions} = attach-target{name=x86_avx512},func.func(stitch)
// RUN: sutura-opt %s --pass-pipeline='builtin.module(%{regions},schedule-regions)' | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// 9 MB, packed by the compiler: 12 rows and 5.
// CHECK-LABEL: func.func @far
// CHECK: loop d{{[02]}} by 12 grid {
// CHECK-NEXT: loop d{{[02]}} { contract
func.func @far(%a: tensor<17x768xf32>) -> tensor<17x3072xf32> {
  %b = graph.constant dense<0.5> : tensor<768x3072xf32>
  %p = graph.compute ins(%a, %b : tensor<17x768xf32>, tensor<768x3072xf32>) -> tensor<17x3072xf32> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#a, #b, #c]} {
  ^bb0(%l: f32, %r: f32):
    %m = arith.mulf %l, %r : f32
    graph.yield %m : f32
  }
  return %p : tensor<17x3072xf32>
}

// 96 KB: 9 rows and 8.
// CHECK-LABEL: func.func @near
// CHECK: loop d{{[02]}} by 9 grid {
// CHECK-NEXT: loop d{{[02]}} { contract
func.func @near(%a: tensor<17x96xf32>) -> tensor<17x256xf32> {
  %b = graph.constant dense<0.5> : tensor<96x256xf32>
  %p = graph.compute ins(%a, %b : tensor<17x96xf32>, tensor<96x256xf32>) -> tensor<17x256xf32> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#a, #b, #c]} {
  ^bb0(%l: f32, %r: f32):
    %m = arith.mulf %l, %r : f32
    graph.yield %m : f32
  }
  return %p : tensor<17x256xf32>
}

// 2.5 MB in five panels: even tiles, since threads share them.
// CHECK-LABEL: func.func @few_panels
// CHECK: loop d{{[02]}} by 9 grid {
// CHECK-NEXT: loop d{{[02]}} { contract
func.func @few_panels(%a: tensor<17x4000xf32>) -> tensor<17x160xf32> {
  %b = graph.constant dense<0.5> : tensor<4000x160xf32>
  %p = graph.compute ins(%a, %b : tensor<17x4000xf32>, tensor<4000x160xf32>) -> tensor<17x160xf32> {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#a, #b, #c]} {
  ^bb0(%l: f32, %r: f32):
    %m = arith.mulf %l, %r : f32
    graph.yield %m : f32
  }
  return %p : tensor<17x160xf32>
}
