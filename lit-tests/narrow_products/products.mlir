// Sums of products of narrow numbers take the form of the machine's instructions for dot products.

// DEFINE: %{attach} = attach-target{name=x86_avx512_dot}
// RUN: sutura-opt %s --pass-pipeline='builtin.module(%{attach},narrow-products)' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: sutura-opt %t.once --narrow-products -o %t.twice
// RUN: diff %t.once %t.twice
// RUN: sutura-opt %s --pass-pipeline='builtin.module(%{attach},narrow-products)' --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: sutura-opt %s --pass-pipeline='builtin.module(%{attach},narrow-products,split-products,func.func(stitch),convert-graph-to-gir,tensorize)' | FileCheck %s --check-prefix=GIR
// RUN: sutura-opt %s --pass-pipeline='builtin.module(%{attach},narrow-products,split-products,func.func(stitch),convert-graph-to-gir,tensorize,convert-gir-to-cpu)' | FileCheck %s --check-prefix=CPU
// RUN: sutura-opt %s --pass-pipeline='builtin.module(%{attach},narrow-products,split-products,func.func(stitch),convert-graph-to-gir,tensorize,convert-gir-to-cpu)' --check-passes=2 --strict -o /dev/null
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx512},narrow-products)' --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=NONE
// RUN: not sutura-opt %s --pass-pipeline='builtin.module(narrow-products{precision=f8})' 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: precision

#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>

// Numbers without sign by ones with sign, in whole groups: nothing is made.
// CHECK-LABEL: func.func @as_they_are
// CHECK-NEXT: graph.compute ins(%a, %b : {{.*}}graph.narrow
// CHECK: arith.extui
// CHECK: arith.extsi
// CHECK-NOT: graph.compute
// CHECK: return
// REMARK: remark: a product becomes one of factors of i8, 4 places at a time, by @vpdpbusd
// GIR-LABEL: gir.kernel @as_they_are
// GIR: gir.load {{.*}} -> !gir.tile<vec, i8, [12, 4]>
// GIR: gir.load {{.*}} -> !gir.tile<vec, i8, [4, 32]>
// GIR: gir.intrinsic @vpdpbusd(
// CPU-LABEL: func.func @as_they_are
// CPU: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"({{.*}}) : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>
// NONE: remark: a product stays as it is: the machine has no instruction for narrow numbers of its types
func.func @as_they_are(%a: tensor<96x64xi8>, %b: tensor<64x96xi8>) -> tensor<96x96xi32> {
  %y = graph.compute ins(%a, %b : tensor<96x64xi8>, tensor<64x96xi8>) -> tensor<96x96xi32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
  ^bb0(%p: i8, %q: i8):
    %0 = arith.extui %p : i8 to i32
    %1 = arith.extsi %q : i8 to i32
    %2 = arith.muli %0, %1 : i32
    graph.yield %2 : i32
  }
  return %y : tensor<96x96xi32>
}

// Both have a sign: the left factor is moved by 128, padded, and the sums of the right one make up for it.
// CHECK-LABEL: func.func @moved
// CHECK: %[[L:.*]] = graph.compute ins(%a : tensor<5x7xi8>) -> tensor<5x8xi8>
// CHECK: arith.xori
// CHECK: %[[R:.*]] = graph.compute ins(%b : tensor<7x3xi8>) -> tensor<8x3xi8>
// CHECK: %[[P:.*]] = graph.compute ins(%[[L]], %[[R]] : {{.*}}graph.narrow
// CHECK: %[[S:.*]] = graph.compute ins(%[[R]] : tensor<8x3xi8>) -> tensor<3xi32>
// CHECK: graph.compute ins(%[[P]], %[[S]] :
// CHECK: arith.constant 128 : i32
// CHECK: arith.subi
// REMARK: by @vpdpbusd; the left one is moved by 128
func.func @moved(%a: tensor<5x7xi8>, %b: tensor<7x3xi8>) -> tensor<5x3xi32> {
  %y = graph.compute ins(%a, %b : tensor<5x7xi8>, tensor<7x3xi8>) -> tensor<5x3xi32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
  ^bb0(%p: i8, %q: i8):
    %0 = arith.extsi %p : i8 to i32
    %1 = arith.extsi %q : i8 to i32
    %2 = arith.muli %0, %1 : i32
    graph.yield %2 : i32
  }
  return %y : tensor<5x3xi32>
}

// A sum without places stays.
// CHECK-LABEL: func.func @empty
// CHECK-NOT: graph.narrow
func.func @empty(%a: tensor<5x0xi8>, %b: tensor<0x3xi8>) -> tensor<5x3xi32> {
  %y = graph.compute ins(%a, %b : tensor<5x0xi8>, tensor<0x3xi8>) -> tensor<5x3xi32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
  ^bb0(%p: i8, %q: i8):
    %0 = arith.extui %p : i8 to i32
    %1 = arith.extsi %q : i8 to i32
    %2 = arith.muli %0, %1 : i32
    graph.yield %2 : i32
  }
  return %y : tensor<5x3xi32>
}
