// A size that is a quotient which is no polynomial is a symbol, told by an equality that is checked before the run. A shape
// operand is dropped only where its elements are known.

// RUN: sutura-opt %s --propagate-shapes | FileCheck %s
// RUN: sutura-opt %s --propagate-shapes | sutura-opt --propagate-shapes | FileCheck %s
// RUN: sutura-opt %s --propagate-shapes --canonicalize --stitch --convert-graph-to-gir --check-passes | FileCheck %s --check-prefix=HOST

// CHECK-LABEL: func.func @thirds
// CHECK: dyn.symbol "N"
// CHECK: dyn.symbol "reshape_1"
// CHECK: dyn.equal [4*N], [3*reshape_1] {source = "graph.reshape: number of elements of the input and of the result"}
// CHECK: graph.reshape %x : {{.*}} -> tensor<3x?xf32, #dyn.shape<[3, reshape_1]>>
// HOST-LABEL: rt.program @thirds(
// HOST-SAME: checks = [{kind = "compatible", left = #dyn.shape<[4*N]>, {{.*}}right = #dyn.shape<[3*reshape_1]>}]
func.func @thirds(%x: tensor<?x4xf32, #dyn.shape<[N, 4]>>) -> tensor<?x?xf32> {
  %s = graph.constant dense<[3, -1]> : tensor<2xi64>
  %y = graph.reshape %x, %s : tensor<?x4xf32, #dyn.shape<[N, 4]>>, tensor<2xi64> -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @by_another
// CHECK: dyn.equal [4*N], [M*reshape_1]
// CHECK: graph.reshape %x : {{.*}} -> tensor<?x?xf32, #dyn.shape<[M, reshape_1]>>
func.func @by_another(%x: tensor<?x4xf32, #dyn.shape<[N, 4]>>, %z: tensor<?xf32, #dyn.shape<[M]>>) -> tensor<?x?xf32> {
  %m = graph.shape_of %z : tensor<?xf32, #dyn.shape<[M]>> -> tensor<1xi64>
  %open = graph.constant dense<-1> : tensor<1xi64>
  %s = graph.concat %m, %open {axis = 0 : i64} : tensor<1xi64>, tensor<1xi64> -> tensor<2xi64>
  %y = graph.reshape %x, %s {allowzero} : tensor<?x4xf32, #dyn.shape<[N, 4]>>, tensor<2xi64> -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// What data asks for is looked at, though the size follows from the others.
// CHECK-LABEL: func.func @of_data
// CHECK: graph.reshape %x, %s : {{.*}} -> tensor<?xf32, #dyn.shape<[4*N]>>
// HOST-LABEL: rt.program @of_data(
// HOST: expect %arg1 {copied = #dyn.shape<[N]>, sizes = #dyn.shape<[4*N]>, what = "graph.reshape '%y'"} : !rt.buffer<i64, [1]>
func.func @of_data(%x: tensor<?x4xf32, #dyn.shape<[N, 4]>>, %s: tensor<1xi64>) -> tensor<?xf32> {
  %y = graph.reshape %x, %s : tensor<?x4xf32, #dyn.shape<[N, 4]>>, tensor<1xi64> -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// A part that turns out to be empty leaves nothing outside of the other one.
// CHECK-LABEL: func.func @empty_part
// CHECK: graph.compute ins(%x, %z : {{.*}}oob = [unit, 0.000000e+00 : f32]
func.func @empty_part(%x: tensor<?xf32, #dyn.shape<[N]>>, %z: tensor<0xf32>) -> tensor<?xf32> {
  %y = graph.concat %x, %z {axis = 0 : i64} : tensor<?xf32, #dyn.shape<[N]>>, tensor<0xf32> -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// The divisor is a size of several terms: that it is positive is checked, not read off its terms.
// CHECK-LABEL: func.func @by_larger
// CHECK: dyn.equal [M*N], [M*reshape_1 - reshape_1*min(M, 5) + 5*reshape_1]
// HOST-LABEL: rt.program @by_larger(
// HOST-SAME: checks = [{kind = "compatible", left = #dyn.shape<[M*N]>
func.func @by_larger(%x: tensor<?x?xf32, #dyn.shape<[N, M]>>) -> tensor<?x?xf32> {
  %shape = graph.shape_of %x : tensor<?x?xf32, #dyn.shape<[N, M]>> -> tensor<2xi64>
  %m = graph.slice %shape {axes = array<i64: 0>, starts = array<i64: 1>, ends = array<i64: 2>, steps = array<i64: 1>} : tensor<2xi64> -> tensor<1xi64>
  %least = graph.constant dense<5> : tensor<1xi64>
  %l = graph.compute ins(%m, %least : tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64> {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
  ^bb0(%a: i64, %b: i64):
    %0 = arith.maxsi %a, %b : i64
    graph.yield %0 : i64
  }
  %open = graph.constant dense<-1> : tensor<1xi64>
  %s = graph.concat %l, %open {axis = 0 : i64} : tensor<1xi64>, tensor<1xi64> -> tensor<2xi64>
  %y = graph.reshape %x, %s {allowzero} : tensor<?x?xf32, #dyn.shape<[N, M]>>, tensor<2xi64> -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
