// A row of which a mask hides all is zero: what stands behind the second product reads the largest score, which is known for all rows of
// a tile only where it is taken of all of them together.
// RUN: sutura-opt %s --attach-target="name=x86_avx512" --convert-graph-to-gir --check-passes=2 --strict | FileCheck %s

// CHECK: gir.kernel @hidden_attention0(
// CHECK-NOT: gir.kernel
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (j, k)>
#v = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @hidden(%q: tensor<24x8xf32>, %k: tensor<9x8xf32>, %v: tensor<9x8xf32>, %mask: tensor<24x9xf32>) -> tensor<24x8xf32> {
  %y = graph.fusion(%q, %k, %v, %mask : tensor<24x8xf32>, tensor<9x8xf32>, tensor<9x8xf32>, tensor<24x9xf32>) -> tensor<24x8xf32> {
  ^bb0(%a: tensor<24x8xf32>, %b: tensor<9x8xf32>, %c: tensor<9x8xf32>, %d: tensor<24x9xf32>):
    %scores = graph.compute ins(%a, %b : tensor<24x8xf32>, tensor<9x8xf32>) -> tensor<24x9xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#a, #b, #c]} {
    ^bb0(%a0: f32, %a1: f32):
      %0 = arith.mulf %a0, %a1 : f32
      graph.yield %0 : f32
    }
    %seen = graph.compute ins(%scores, %d : tensor<24x9xf32>, tensor<24x9xf32>) -> tensor<24x9xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id, #id]} {
    ^bb0(%a0: f32, %a1: f32):
      %zero = arith.constant 0.0 : f32
      %hidden = arith.constant 0xFF800000 : f32
      %0 = arith.cmpf ogt, %a1, %zero : f32
      %1 = arith.select %0, %a0, %hidden : f32
      graph.yield %1 : f32
    }
    %most = graph.compute ins(%seen : tensor<24x9xf32>) -> tensor<24xf32> {combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #row]} {
    ^bb0(%a0: f32):
      graph.yield %a0 : f32
    }
    %exp = graph.compute ins(%seen, %most : tensor<24x9xf32>, tensor<24xf32>) -> tensor<24x9xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%a0: f32, %a1: f32):
      %0 = arith.subf %a0, %a1 : f32
      %1 = math.exp %0 : f32
      graph.yield %1 : f32
    }
    %sum = graph.compute ins(%exp : tensor<24x9xf32>) -> tensor<24xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #row]} {
    ^bb0(%a0: f32):
      graph.yield %a0 : f32
    }
    %w = graph.compute ins(%exp, %sum : tensor<24x9xf32>, tensor<24xf32>) -> tensor<24x9xf32> {graph.operator = "softmax_by_division", iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%a0: f32, %a1: f32):
      %0 = arith.divf %a0, %a1 : f32
      graph.yield %0 : f32
    }
    %p = graph.compute ins(%w, %c : tensor<24x9xf32>, tensor<9x8xf32>) -> tensor<24x8xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#a, #v, #c]} {
    ^bb0(%a0: f32, %a1: f32):
      %0 = arith.mulf %a0, %a1 : f32
      graph.yield %0 : f32
    }
    %out = graph.compute ins(%p, %most : tensor<24x8xf32>, tensor<24xf32>) -> tensor<24x8xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%a0: f32, %a1: f32):
      %zero = arith.constant 0.0 : f32
      %hidden = arith.constant 0xFF800000 : f32
      %0 = arith.cmpf oeq, %a1, %hidden : f32
      %1 = arith.select %0, %zero, %a0 : f32
      graph.yield %1 : f32
    }
    graph.yield %out : tensor<24x8xf32>
  }
  return %y : tensor<24x8xf32>
}
