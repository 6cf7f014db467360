// RUN: sutura-opt %s --check-combiners --remarks 2>&1 | FileCheck %s

// CHECK: remark: identity and laws of the region that joins states hold with 4 seeds
func.func @sum(%x: tensor<?xi32>) -> tensor<i32> {
  %y = graph.compute ins(%x : tensor<?xi32>) -> tensor<i32> {iterators = #graph.iterators<[reduce]>, state = #graph.state<[0 : i32], laws = [associative, commutative]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>]} {
  ^bb0(%e: i32):
    graph.yield %e : i32
  } combine {
  ^bb0(%a: i32, %b: i32):
    %0 = arith.addi %a, %b : i32
    graph.yield %0 : i32
  }
  return %y : tensor<i32>
}
