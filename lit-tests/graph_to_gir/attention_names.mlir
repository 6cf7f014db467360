// A region that is marked as attention is one only where what the name of its softmax stands for is still there; else its ops
// become kernels one by one.
// RUN: sutura-opt %s --convert-graph-to-gir --check-passes --remarks -o %t.out 2>&1 | FileCheck %s --check-prefix=SAID
// RUN: FileCheck %s --input-file=%t.out

// SAID: both contract, and what lies between is no longer what 'softmax_by_division' stands for
// SAID: 1 functions compared
// CHECK: gir.unary "exp2"

!t = tensor<4x4xf32>
!r = tensor<4xf32>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (j, k)>
#v = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @powers_of_two(%q: !t, %k: !t, %v: !t) -> !t {
  %y = graph.fusion(%q, %k, %v : !t, !t, !t) -> !t {
  ^bb0(%a: !t, %b: !t, %c: !t):
    %scores = graph.compute ins(%a, %b : !t, !t) -> !t {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#a, #b, #c]} {
    ^bb0(%e: f32, %f: f32):
      %x = arith.mulf %e, %f : f32
      graph.yield %x : f32
    }
    %max = graph.compute ins(%scores : !t) -> !r {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #row]} {
    ^bb0(%e: f32):
      graph.yield %e : f32
    }
    %exp = graph.compute ins(%scores, %max : !t, !r) -> !t {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%e: f32, %f: f32):
      %x = arith.subf %e, %f : f32
      %z = math.exp2 %x : f32
      graph.yield %z : f32
    }
    %sum = graph.compute ins(%exp : !t) -> !r {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #row]} {
    ^bb0(%e: f32):
      graph.yield %e : f32
    }
    %p = graph.compute ins(%exp, %sum : !t, !r) -> !t {graph.operator = "softmax_by_division", iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%e: f32, %f: f32):
      %x = arith.divf %e, %f : f32
      graph.yield %x : f32
    }
    %o = graph.compute ins(%p, %c : !t, !t) -> !t {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#a, #v, #c]} {
    ^bb0(%e: f32, %f: f32):
      %x = arith.mulf %e, %f : f32
      graph.yield %x : f32
    }
    graph.yield %o : !t
  }
  return %y : !t
}
