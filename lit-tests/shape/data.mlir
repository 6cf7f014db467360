// A size that depends on data is not taken to be another one: the op that meets it compares it when it runs, and what is
// compiled refuses it.

// RUN: sutura-opt %s --propagate-shapes | FileCheck %s
// RUN: sutura-opt %s --propagate-shapes | sutura-opt --propagate-shapes | FileCheck %s
// RUN: not sutura-opt %s --propagate-shapes --canonicalize --propagate-shapes --stitch --convert-graph-to-gir -o /dev/null 2>&1 | FileCheck %s --check-prefix=ERROR

// ERROR-DAG: 'graph.slice' has no structured form: it cuts dimension 0 of {{.*}}, of size N, from {{.*}} to element 0 of {{.*}}
// ERROR-DAG: 'graph.reshape' op takes its shape from data: nothing says before the run that it is what the program needs
// ERROR-NOT: left IR that does not verify

// CHECK-LABEL: func.func @cut
// CHECK-NOT: dyn.equal
// CHECK: graph.slice {{.*}} -> tensor<?xf32, #dyn.shape<[slice_0]>>
// CHECK: graph.compute ins(%{{.*}}, %x : tensor<?xf32, #dyn.shape<[slice_0]>>, tensor<?xf32, #dyn.shape<[N]>>)
func.func @cut(%x: tensor<?xf32, #dyn.shape<[N]>>, %n: tensor<1xi64>) -> tensor<?xf32> {
  %start = graph.constant dense<0> : tensor<1xi64>
  %y = graph.slice %x[%start, %n] {axes = array<i64: 0>, steps = array<i64: 1>} : tensor<?xf32, #dyn.shape<[N]>>, tensor<1xi64>, tensor<1xi64> -> tensor<?xf32>
  %z = graph.compute ins(%y, %x : tensor<?xf32>, tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32> {
    iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
  } {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    graph.yield %0 : f32
  }
  return %z : tensor<?xf32>
}

// CHECK-LABEL: func.func @shaped
// CHECK-NOT: dyn.equal
// CHECK: graph.reshape %x, %s : {{.*}} -> tensor<?x?xf32, #dyn.shape<[reshape_0, reshape_1]>>
func.func @shaped(%x: tensor<?x?xf32, #dyn.shape<[N, M]>>, %w: tensor<?x?xf32, #dyn.shape<[P, Q]>>, %s: tensor<2xi64>) -> tensor<?x?xf32> {
  %y = graph.reshape %x, %s : tensor<?x?xf32, #dyn.shape<[N, M]>>, tensor<2xi64> -> tensor<?x?xf32>
  %z = graph.compute ins(%y, %w : tensor<?x?xf32>, tensor<?x?xf32, #dyn.shape<[P, Q]>>) -> tensor<?x?xf32> {
    iterators = #graph.iterators<[parallel, parallel]>,
    maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
  } {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    graph.yield %0 : f32
  }
  return %z : tensor<?x?xf32>
}

// Over no points a reduction has as many elements as its other dimensions say, here more than 64 bits count.
// CHECK-LABEL: func.func @none
// CHECK: graph.compute {{.*}} -> tensor<1099511627776x1099511627776xi64>
func.func @none(%x: tensor<0x1099511627776x1099511627776xi64>) -> tensor<1099511627776x1099511627776xi64> {
  %y = graph.compute ins(%x : tensor<0x1099511627776x1099511627776xi64>) -> tensor<1099511627776x1099511627776xi64> {
    iterators = #graph.iterators<[reduce, parallel, parallel]>, combiners = #graph.combiners<[max]>,
    maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>]
  } {
  ^bb0(%e: i64):
    graph.yield %e : i64
  }
  return %y : tensor<1099511627776x1099511627776xi64>
}
