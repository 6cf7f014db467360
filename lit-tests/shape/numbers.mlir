// Numbers of an integer type wrap around, sizes do not: where arithmetic on sizes may leave its type, an equality says that it
// must not, which is checked in every run.

// RUN: sutura-opt %s --propagate-shapes | FileCheck %s
// RUN: sutura-opt %s --propagate-shapes | sutura-opt --propagate-shapes | FileCheck %s

#id = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// CHECK-LABEL: func.func @narrow
// CHECK: dyn.equal [min(1073741824*N, 2147483647)], [1073741824*N] {source = "{{.*}}a number that is computed and the same number within 31 bits"}
// CHECK-NOT: dyn.equal
// CHECK: return %{{.*}} : tensor<?xf32, #dyn.shape<[N]>>
func.func @narrow(%x: tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32> {
  %s = graph.shape_of %x : tensor<?xf32, #dyn.shape<[N]>> -> tensor<1xi64>
  %t = graph.compute ins(%s : tensor<1xi64>) -> tensor<1xi64> {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%n: i64):
    %c = arith.constant 1073741824 : i32
    %0 = arith.trunci %n : i64 to i32
    %1 = arith.muli %0, %c : i32
    %2 = arith.divsi %1, %c : i32
    %3 = arith.extsi %2 : i32 to i64
    graph.yield %3 : i64
  }
  %r = graph.reshape %x, %t {allowzero} : tensor<?xf32, #dyn.shape<[N]>>, tensor<1xi64> -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// The product of two sizes of 31 bits fits 64 bits, that of three may not.
// CHECK-LABEL: func.func @two
// CHECK-NOT: dyn.equal
// CHECK: return
func.func @two(%x: tensor<?x?xf32, #dyn.shape<[N, M]>>) -> tensor<?xf32> {
  %s = graph.shape_of %x : tensor<?x?xf32, #dyn.shape<[N, M]>> -> tensor<2xi64>
  %p = graph.compute ins(%s : tensor<2xi64>) -> tensor<i64> {combiners = #graph.combiners<[mul]>, iterators = #graph.iterators<[reduce]>, maps = [#id, #none]} {
  ^bb0(%n: i64):
    graph.yield %n : i64
  }
  %l = graph.reshape %p : tensor<i64> -> tensor<1xi64>
  %r = graph.reshape %x, %l {allowzero} : tensor<?x?xf32, #dyn.shape<[N, M]>>, tensor<1xi64> -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// CHECK-LABEL: func.func @three
// CHECK: dyn.equal [min(K*M*N, 1152921504606846975)], [K*M*N] {source = "{{.*}}a number that is computed and the same number within 60 bits"}
// CHECK: return
func.func @three(%x: tensor<?x?x?xf32, #dyn.shape<[N, M, K]>>) -> tensor<?xf32> {
  %s = graph.shape_of %x : tensor<?x?x?xf32, #dyn.shape<[N, M, K]>> -> tensor<3xi64>
  %p = graph.compute ins(%s : tensor<3xi64>) -> tensor<i64> {combiners = #graph.combiners<[mul]>, iterators = #graph.iterators<[reduce]>, maps = [#id, #none]} {
  ^bb0(%n: i64):
    graph.yield %n : i64
  }
  %l = graph.reshape %p : tensor<i64> -> tensor<1xi64>
  %r = graph.reshape %x, %l {allowzero} : tensor<?x?x?xf32, #dyn.shape<[N, M, K]>>, tensor<1xi64> -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// A size that is stored as a number must be one, also where no tensor of that size is made.
// CHECK-LABEL: func.func @shape
// CHECK: dyn.equal [min(4611686018427387904*N, 1152921504606846975)], [4611686018427387904*N]
func.func @shape(%x: tensor<?x0xf32, #dyn.shape<[4611686018427387904*N, 0]>>) -> tensor<2xi64> {
  %N = dyn.symbol "N" : index
  %s = graph.shape_of %x : tensor<?x0xf32, #dyn.shape<[4611686018427387904*N, 0]>> -> tensor<2xi64>
  return %s : tensor<2xi64>
}

// A number of one bit, or of none, says nothing of the size that it was made from.
// CHECK-LABEL: func.func @bits
// CHECK-NOT: dyn.equal
// CHECK: return
func.func @bits(%x: tensor<?xf32, #dyn.shape<[N]>>) -> (tensor<1xi1>, tensor<1xi0>) {
  %s = graph.shape_of %x : tensor<?xf32, #dyn.shape<[N]>> -> tensor<1xi64>
  %one = graph.compute ins(%s : tensor<1xi64>) -> tensor<1xi1> {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%n: i64):
    %0 = arith.trunci %n : i64 to i1
    graph.yield %0 : i1
  }
  %none = graph.compute ins(%s : tensor<1xi64>) -> tensor<1xi0> {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%n: i64):
    %0 = arith.trunci %n : i64 to i0
    graph.yield %0 : i0
  }
  return %one, %none : tensor<1xi1>, tensor<1xi0>
}
