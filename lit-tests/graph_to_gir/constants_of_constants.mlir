// A right factor that another region makes of constants is known at compile time: it is packed by a launch that the compiler runs, and not by
// the groups at each call. One that depends on a size is not.

// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx512},convert-graph-to-gir)' | FileCheck %s
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx512},convert-graph-to-gir,fold-launches,canonicalize)' | FileCheck %s --check-prefix=FOLDED
// RUN: sutura-opt %s --check-passes --pass-pipeline='builtin.module(attach-target{name=x86_avx512},convert-graph-to-gir)' -o /dev/null

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(n, k) -> (n, k)>

!a = tensor<?x24xf32, #dyn.shape<[M, 24]>>
!c = tensor<?x40xf32, #dyn.shape<[M, 40]>>

// CHECK-LABEL: gir.kernel @quantized_contract{{[0-9]}}(
// CHECK-SAME: !gir.view<dram, f32, [2, 24, 32]> out)
// CHECK-NOT: gir.alloc
// CHECK-LABEL: rt.program @quantized(
// FOLDED-LABEL: rt.program @quantized(
// FOLDED: constant "folded.{{[0-9]}}" = dense<{{.*}}> : tensor<2x24x32xf32>
// FOLDED-COUNT-1: launch
// FOLDED-NOT: launch
// FOLDED-LABEL: rt.program @of_a_size(
func.func @quantized(%a: !a) -> !c {
  %M = dyn.symbol "M" : index
  %q = graph.constant dense<3> : tensor<40x24xi8>
  %w = graph.fusion(%q : tensor<40x24xi8>) -> tensor<40x24xf32> {
  ^bb0(%q_0: tensor<40x24xi8>):
    %w_0 = graph.compute ins(%q_0 : tensor<40x24xi8>) -> tensor<40x24xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%e: i8):
      %f = arith.sitofp %e : i8 to f32
      graph.yield %f : f32
    }
    graph.yield %w_0 : tensor<40x24xf32>
  }
  %y = graph.fusion(%a, %w : !a, tensor<40x24xf32>) -> !c {
  ^bb0(%a_0: !a, %w_0: tensor<40x24xf32>):
    %M_0 = dyn.symbol "M" : index
    %p = graph.compute ins(%a_0, %w_0 : !a, tensor<40x24xf32>) -> !c {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#a, #b, #c]} {
    ^bb0(%l: f32, %r: f32):
      %m = arith.mulf %l, %r : f32
      graph.yield %m : f32
    }
    graph.yield %p : !c
  }
  return %y : !c
}

// CHECK-LABEL: gir.kernel @of_a_size_contract{{[0-9]}}(
// CHECK: gir.alloc owner("unit") : !gir.view<l1, f32, [24, 32]>
func.func @of_a_size(%a: !a) -> !c {
  %M = dyn.symbol "M" : index
  %q = graph.constant dense<3> : tensor<40x24xi8>
  %w = graph.fusion(%q : tensor<40x24xi8>) -> tensor<40x24xf32> {
  ^bb0(%q_0: tensor<40x24xi8>):
    %M_0 = dyn.symbol "M" : index
    %w_0 = graph.compute ins(%q_0 : tensor<40x24xi8>) -> tensor<40x24xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%e: i8):
      %s = graph.size [M] : index
      %i = arith.index_cast %s : index to i64
      %g = arith.sitofp %i : i64 to f32
      %f = arith.sitofp %e : i8 to f32
      %h = arith.mulf %f, %g : f32
      graph.yield %h : f32
    }
    graph.yield %w_0 : tensor<40x24xf32>
  }
  %y = graph.fusion(%a, %w : !a, tensor<40x24xf32>) -> !c {
  ^bb0(%a_0: !a, %w_0: tensor<40x24xf32>):
    %M_0 = dyn.symbol "M" : index
    %p = graph.compute ins(%a_0, %w_0 : !a, tensor<40x24xf32>) -> !c {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#a, #b, #c]} {
    ^bb0(%l: f32, %r: f32):
      %m = arith.mulf %l, %r : f32
      graph.yield %m : f32
    }
    graph.yield %p : !c
  }
  return %y : !c
}
