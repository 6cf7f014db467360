// RUN: sutura-opt %s | FileCheck %s
// RUN: sutura-opt %s | sutura-opt | FileCheck %s
// RUN: sutura-opt %s --mlir-print-op-generic | sutura-opt | FileCheck %s

// CHECK-LABEL: func.func @softmax
// CHECK-SAME: tensor<?x256xf32, #dyn.shape<[N, 256]>>
func.func @softmax(%x: tensor<?x256xf32, #dyn.shape<[N, 256]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
  // CHECK: %N = dyn.symbol "N" {div = 8 : i64, likely = [128], range = [8, 512]} : index
  %N = dyn.symbol "N" {range = [8, 512], div = 8, likely = [128]} : index
  // CHECK: dyn.equal [N], [8*(N floordiv 8)] {source = "by hand"}
  dyn.equal [N], [8*(N floordiv 8)] {source = "by hand"}
  // CHECK: graph.compute ins(%x : tensor<?x256xf32, #dyn.shape<[N, 256]>>) -> tensor<?xf32, #dyn.shape<[N]>>
  // CHECK-SAME: combiners = #graph.combiners<[max]>
  // CHECK-SAME: iterators = #graph.iterators<[parallel, reduce]>
  // CHECK-NEXT: ^bb0(%[[E:.*]]: f32):
  // CHECK-NEXT: graph.yield %[[E]] : f32
  %max = graph.compute ins(%x : tensor<?x256xf32, #dyn.shape<[N, 256]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
    iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>,
    maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>]
  } {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  return %max : tensor<?xf32, #dyn.shape<[N]>>
}

// CHECK-LABEL: func.func @movement
func.func @movement(%x: tensor<?x4xf32>, %i: tensor<?xi64>, %s: tensor<3xi64>) -> tensor<?x4xf32> {
  // CHECK: graph.constant dense<[0, -1]> : tensor<2xi64>
  %c = graph.constant dense<[0, -1]> : tensor<2xi64>
  // CHECK: graph.reshape %x, %s {allowzero} : tensor<?x4xf32>, tensor<3xi64> -> tensor<?x?x?xf32>
  %0 = graph.reshape %x, %s {allowzero} : tensor<?x4xf32>, tensor<3xi64> -> tensor<?x?x?xf32>
  // CHECK: graph.reshape %{{.*}} : tensor<?x?x?xf32> -> tensor<?x4xf32>
  %1 = graph.reshape %0 : tensor<?x?x?xf32> -> tensor<?x4xf32>
  // CHECK: graph.shape_of %{{.*}} : tensor<?x4xf32> -> tensor<2xi64>
  %2 = graph.shape_of %1 : tensor<?x4xf32> -> tensor<2xi64>
  // CHECK: graph.concat %{{.*}}, %{{.*}} {axis = 0 : i64} : tensor<2xi64>, tensor<2xi64> -> tensor<4xi64>
  %3 = graph.concat %2, %c {axis = 0} : tensor<2xi64>, tensor<2xi64> -> tensor<4xi64>
  // CHECK: graph.slice %{{.*}} {axes = array<i64: 0>, ends = array<i64: 3>, starts = array<i64: 1>, steps = array<i64: 2>} : tensor<4xi64> -> tensor<1xi64>
  %4 = graph.slice %3 {axes = array<i64: 0>, starts = array<i64: 1>, ends = array<i64: 3>, steps = array<i64: 2>} : tensor<4xi64> -> tensor<1xi64>
  // CHECK: graph.slice %{{.*}}[%{{.*}}, %{{.*}}] {axes = array<i64: 0>, steps = array<i64: 1>} : tensor<?x4xf32>, tensor<1xi64>, tensor<1xi64> -> tensor<?x4xf32>
  %5 = graph.slice %1[%4, %4] {axes = array<i64: 0>, steps = array<i64: 1>} : tensor<?x4xf32>, tensor<1xi64>, tensor<1xi64> -> tensor<?x4xf32>
  // CHECK: graph.gather %{{.*}}, %i {axis = 0 : i64} : tensor<?x4xf32>, tensor<?xi64> -> tensor<?x4xf32>
  %6 = graph.gather %5, %i {axis = 0} : tensor<?x4xf32>, tensor<?xi64> -> tensor<?x4xf32>
  // CHECK: graph.scan %{{.*}} {axis = 1 : i64, combiner = #graph.combiner<max>, exclusive, reverse} : tensor<?x4xf32> -> tensor<?x4xf32>
  %7 = graph.scan %6 {axis = 1, combiner = #graph.combiner<max>, reverse, exclusive} : tensor<?x4xf32> -> tensor<?x4xf32>
  return %7 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @places
func.func @places(%x: tensor<?x4xf32, #dyn.shape<[N, 4]>>, %i: tensor<?x2xi64>, %j: tensor<?x3x1xi64>) -> tensor<?x4xf32> {
  // CHECK: graph.gather_nd %x, %i : tensor<?x4xf32, #dyn.shape<[N, 4]>>, tensor<?x2xi64> -> tensor<?xf32>
  %0 = graph.gather_nd %x, %i : tensor<?x4xf32, #dyn.shape<[N, 4]>>, tensor<?x2xi64> -> tensor<?xf32>
  // CHECK: graph.gather_nd %x, %j {batch_dims = 1 : i64} : tensor<?x4xf32, #dyn.shape<[N, 4]>>, tensor<?x3x1xi64> -> tensor<?x3xf32>
  %1 = graph.gather_nd %x, %j {batch_dims = 1 : i64} : tensor<?x4xf32, #dyn.shape<[N, 4]>>, tensor<?x3x1xi64> -> tensor<?x3xf32>
  // CHECK: graph.compute ins(%x : {{.*}}oob = [0.000000e+00 : f32], sizes = #dyn.shape<[N, N floordiv 2]>}
  %2 = graph.compute ins(%x : tensor<?x4xf32, #dyn.shape<[N, 4]>>) -> tensor<?x4xf32> {
    iterators = #graph.iterators<[parallel, parallel]>, oob = [0.0 : f32], sizes = #dyn.shape<[N, N floordiv 2]>,
    maps = [affine_map<(d0, d1)[s0, s1] -> (d0 - s1, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
  } {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  return %2 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @fused
func.func @fused(%x: tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
  // CHECK: graph.fusion(%x : tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
  %y = graph.fusion(%x : tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
  ^bb0(%a: tensor<?xf32, #dyn.shape<[N]>>):
    %N = dyn.symbol "N" : index
    // CHECK: graph.compute ins() -> tensor<?xf32, #dyn.shape<[N]>>
    %i = graph.compute ins() -> tensor<?xf32, #dyn.shape<[N]>> {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>]} {
      // CHECK: graph.index 0 : index
      %0 = graph.index 0 : index
      // CHECK: graph.size [N - 1] : index
      %1 = graph.size [N - 1] : index
      %2 = arith.subi %1, %0 : index
      %3 = arith.index_cast %2 : index to i32
      %4 = arith.sitofp %3 : i32 to f32
      graph.yield %4 : f32
    }
    graph.yield %i : tensor<?xf32, #dyn.shape<[N]>>
  }
  return %y : tensor<?xf32, #dyn.shape<[N]>>
}
