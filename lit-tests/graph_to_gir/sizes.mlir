// RUN: sutura-opt %s --propagate-shapes --stitch --convert-graph-to-gir | FileCheck %s
// RUN: sutura-opt %s --propagate-shapes --stitch --convert-graph-to-gir --convert-gir-to-cpu --check-passes=6 --strict -o /dev/null

// A size is a number to compute with: what a mean over it divides by, and a result of its own.
// CHECK-LABEL: gir.kernel @mean
// CHECK: rt.program @mean
// CHECK-NOT: graph.
func.func @mean(%x: tensor<?x?xf32, #dyn.shape<[B, S]>>) -> (tensor<?x?xf32>, tensor<2xi64>) {
  %s = graph.shape_of %x : tensor<?x?xf32, #dyn.shape<[B, S]>> -> tensor<2xi64>
  %last = graph.constant dense<1> : tensor<i64>
  %n = graph.gather %s, %last {axis = 0 : i64} : tensor<2xi64>, tensor<i64> -> tensor<i64>
  %y = graph.compute ins(%x, %n : tensor<?x?xf32, #dyn.shape<[B, S]>>, tensor<i64>) -> tensor<?x?xf32> {
    iterators = #graph.iterators<[parallel, parallel]>,
    maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0, d1)>]
  } {
  ^bb0(%a: f32, %b: i64):
    %c = arith.sitofp %b : i64 to f32
    %d = arith.divf %a, %c : f32
    graph.yield %d : f32
  }
  return %y, %s : tensor<?x?xf32>, tensor<2xi64>
}
