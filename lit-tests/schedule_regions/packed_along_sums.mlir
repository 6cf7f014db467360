// What was packed along a sum is read by places on tiles of its rows, or one row after the other: near and far, in parts of its rows, and beside the
// rows of the other factor. Products of padded factors are zero beyond the end of the sum; where the region makes one, its end is asked for.
// RUN: sutura-opt %s --convert-graph-to-gir | FileCheck %s
// RUN: sutura-opt %s --check-passes --strict --pass-pipeline='builtin.module(convert-graph-to-gir,convert-gir-to-cpu)' -o /dev/null

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>

!a = tensor<?x?xf32, #dyn.shape<[M, K]>>
!b = tensor<?x12xf32, #dyn.shape<[K, 12]>>
!c = tensor<?x12xf32, #dyn.shape<[M, 12]>>

// CHECK-LABEL: gir.kernel @far_contract0(
// CHECK-SAME: !gir.view<dram, f32, [(K + 15) floordiv 16, 12, 16]> out)
// CHECK-LABEL: gir.kernel @far_contract1(
// CHECK: carry({{.*}}) : !gir.tile<vec, f32, [12, 16]>
// CHECK-NOT: gir.compare
// CHECK: gir.yield
func.func @far(%a: !a, %b: !b) -> !c {
  %M = dyn.symbol "M" : index
  %K = dyn.symbol "K" : index
  %r = graph.fusion(%a, %b : !a, !b) -> !c {schedule = #schedule.tree<version {
    kernel { loop d2 by 16 grid { loop d1 by 12 { pack p:0.1 rows d1 cols d2 in vec padded } } } kernel { loop d0 by 8 grid { loop d0 { loop d2 by 16 { place p:0 rows d1 cols d2 in vec padded columnwise } } } }
  }>} {
  ^bb0(%a_0: !a, %b_0: !b):
    %M_0 = dyn.symbol "M" : index
    %K_0 = dyn.symbol "K" : index
    %p = graph.compute ins(%a_0, %b_0 : !a, !b) -> !c {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#a, #b, #c]} {
    ^bb0(%l: f32, %s: f32):
      %m = arith.mulf %l, %s : f32
      graph.yield %m : f32
    }
    graph.yield %p : !c
  }
  return %r : !c
}

// CHECK-LABEL: gir.kernel @by_index_contract0(
// CHECK-SAME: !gir.view<dram, f32, [12, (K + 15) floordiv 16, 16]> out)
// CHECK-LABEL: gir.kernel @by_index_contract1(
func.func @by_index(%a: !a, %b: !b) -> !c {
  %M = dyn.symbol "M" : index
  %K = dyn.symbol "K" : index
  %r = graph.fusion(%a, %b : !a, !b) -> !c {schedule = #schedule.tree<version {
    kernel { loop d1 grid { loop d2 by 16 { pack p:0.1 cols d2 in vec padded } } } kernel { loop d0 by 8 grid { loop d0 { loop d2 by 16 { place p:0 rows d1 cols d2 in vec padded columnwise } } } }
  }>} {
  ^bb0(%a_0: !a, %b_0: !b):
    %M_0 = dyn.symbol "M" : index
    %K_0 = dyn.symbol "K" : index
    %p = graph.compute ins(%a_0, %b_0 : !a, !b) -> !c {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#a, #b, #c]} {
    ^bb0(%l: f32, %s: f32):
      %m = arith.mulf %l, %s : f32
      graph.yield %m : f32
    }
    graph.yield %p : !c
  }
  return %r : !c
}

// CHECK-LABEL: gir.kernel @in_parts_contract1(
// CHECK: carry({{.*}}) : !gir.tile<vec, f32, [4, 16]>
func.func @in_parts(%a: !a, %b: !b) -> !c {
  %M = dyn.symbol "M" : index
  %K = dyn.symbol "K" : index
  %r = graph.fusion(%a, %b : !a, !b) -> !c {schedule = #schedule.tree<version {
    kernel { loop d2 by 16 grid { loop d1 by 12 { pack p:0.1 rows d1 cols d2 in vec padded } } } kernel { loop d0 by 8 grid { loop d1 by 4 { loop d0 { loop d2 by 16 { place p:0 rows d1 cols d2 in vec padded columnwise } } } } }
  }>} {
  ^bb0(%a_0: !a, %b_0: !b):
    %M_0 = dyn.symbol "M" : index
    %K_0 = dyn.symbol "K" : index
    %p = graph.compute ins(%a_0, %b_0 : !a, !b) -> !c {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#a, #b, #c]} {
    ^bb0(%l: f32, %s: f32):
      %m = arith.mulf %l, %s : f32
      graph.yield %m : f32
    }
    graph.yield %p : !c
  }
  return %r : !c
}

// CHECK-LABEL: gir.kernel @beside_rows_contract1(
// CHECK: carry({{.*}}) : !gir.tile<vec, f32, [5, 16]>
func.func @beside_rows(%a: !a, %b: !b) -> !c {
  %M = dyn.symbol "M" : index
  %K = dyn.symbol "K" : index
  %r = graph.fusion(%a, %b : !a, !b) -> !c {schedule = #schedule.tree<version {
    kernel { loop d2 by 16 grid { loop d1 by 12 { pack p:0.1 rows d1 cols d2 in vec padded } } } kernel { loop d0 by 5 grid { loop d1 { loop d2 by 16 { place p:0 rows d0 cols d2 in vec padded columnwise } } } }
  }>} {
  ^bb0(%a_0: !a, %b_0: !b):
    %M_0 = dyn.symbol "M" : index
    %K_0 = dyn.symbol "K" : index
    %p = graph.compute ins(%a_0, %b_0 : !a, !b) -> !c {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#a, #b, #c]} {
    ^bb0(%l: f32, %s: f32):
      %m = arith.mulf %l, %s : f32
      graph.yield %m : f32
    }
    graph.yield %p : !c
  }
  return %r : !c
}

// CHECK-LABEL: gir.kernel @made_kernel1(
// CHECK: gir.compare
// CHECK: gir.ternary "select"
func.func @made(%a: !a, %b: !b) -> !c {
  %M = dyn.symbol "M" : index
  %K = dyn.symbol "K" : index
  %r = graph.fusion(%a, %b : !a, !b) -> !c {schedule = #schedule.tree<version {
    kernel { loop d1 by 16 grid { loop d2 by 12 { pack p:1.1 rows d2 cols d1 in vec padded } } } kernel { loop d0 by 8 grid { loop d0 { loop d1 by 16 { place e:0 cols d1 in vec padded place p:1 rows d2 cols d1 in vec padded columnwise } } } }
  }>} {
  ^bb0(%a_0: !a, %b_0: !b):
    %M_0 = dyn.symbol "M" : index
    %K_0 = dyn.symbol "K" : index
    %e = graph.compute ins(%a_0 : !a) -> !a {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%l: f32):
      %v = math.exp %l : f32
      graph.yield %v : f32
    }
    %p = graph.compute ins(%e, %b_0 : !a, !b) -> !c {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#a, #b, #c]} {
    ^bb0(%l: f32, %s: f32):
      %m = arith.mulf %l, %s : f32
      graph.yield %m : f32
    }
    graph.yield %p : !c
  }
  return %r : !c
}
