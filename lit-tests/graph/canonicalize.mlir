// RUN: sutura-opt %s --canonicalize | FileCheck %s

// Constants of one number move into bodies; twins and unused inputs go.
// CHECK-LABEL: func.func @inputs
func.func @inputs(%x: tensor<?xf32>, %dead: tensor<?xf32>) -> tensor<?xf32> {
  %two = graph.constant dense<2.0> : tensor<f32>
  // CHECK-NOT: graph.constant
  // CHECK: graph.compute ins(%x : tensor<?xf32>)
  %y = graph.compute ins(%x, %two, %x, %dead : tensor<?xf32>, tensor<f32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32> {
    iterators = #graph.iterators<[parallel]>,
    maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
  } {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f32):
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    // CHECK-NEXT: %[[TWO:.*]] = arith.constant 2.0
    // CHECK-NEXT: %[[S:.*]] = arith.mulf %[[A]], %[[TWO]]
    %0 = arith.mulf %a, %b : f32
    // CHECK-NEXT: arith.addf %[[S]], %[[A]]
    %1 = arith.addf %0, %c : f32
    graph.yield %1 : f32
  }
  return %y : tensor<?xf32>
}

// An input whose sizes nothing else knows stays.
// CHECK-LABEL: func.func @extent
func.func @extent(%x: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: graph.compute ins(%x : tensor<?xf32>)
  %y = graph.compute ins(%x : tensor<?xf32>) -> tensor<?xf32> {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
  ^bb0(%a: f32):
    %0 = arith.constant 1.0 : f32
    graph.yield %0 : f32
  }
  return %y : tensor<?xf32>
}

// CHECK-LABEL: func.func @reshapes
func.func @reshapes(%x: tensor<?x4xf32, #dyn.shape<[N, 4]>>, %s: tensor<3xi64>) -> (tensor<?xf32, #dyn.shape<[4*N]>>, tensor<?x4xf32, #dyn.shape<[N, 4]>>) {
  %0 = graph.reshape %x, %s : tensor<?x4xf32, #dyn.shape<[N, 4]>>, tensor<3xi64> -> tensor<?x2x2xf32, #dyn.shape<[N, 2, 2]>>
  // CHECK-NEXT: %[[F:.*]] = graph.reshape %x : tensor<?x4xf32, #dyn.shape<[N, 4]>> -> tensor<?xf32, #dyn.shape<[4*N]>>
  %1 = graph.reshape %0 : tensor<?x2x2xf32, #dyn.shape<[N, 2, 2]>> -> tensor<?xf32, #dyn.shape<[4*N]>>
  %2 = graph.reshape %1 : tensor<?xf32, #dyn.shape<[4*N]>> -> tensor<?x4xf32, #dyn.shape<[N, 4]>>
  // CHECK-NEXT: return %[[F]], %x
  return %1, %2 : tensor<?xf32, #dyn.shape<[4*N]>>, tensor<?x4xf32, #dyn.shape<[N, 4]>>
}

// The arithmetic of static shapes is done at compile time.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<2x3x4xf32>) -> tensor<2xi64> {
  // CHECK-NEXT: %[[C:.*]] = graph.constant dense<[6, 4]> : tensor<2xi64>
  // CHECK-NEXT: return %[[C]]
  %s = graph.shape_of %x : tensor<2x3x4xf32> -> tensor<3xi64>
  %i = graph.constant dense<[0, 1]> : tensor<2xi64>
  %outer = graph.gather %s, %i {axis = 0} : tensor<3xi64>, tensor<2xi64> -> tensor<2xi64>
  %product = graph.compute ins(%outer : tensor<2xi64>) -> tensor<1xi64> {iterators = #graph.iterators<[reduce, parallel]>, combiners = #graph.combiners<[mul]>, maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>]} {
  ^bb0(%e: i64):
    graph.yield %e : i64
  }
  %last = graph.slice %s {axes = array<i64: 0>, starts = array<i64: -1>, ends = array<i64: 100>, steps = array<i64: 1>} : tensor<3xi64> -> tensor<1xi64>
  %both = graph.concat %product, %last {axis = 0} : tensor<1xi64>, tensor<1xi64> -> tensor<2xi64>
  return %both : tensor<2xi64>
}

// Along a single element everything is its own combination, unless that is left out.
// CHECK-LABEL: func.func @scan_of_one
// CHECK: %[[Y:.*]] = graph.scan %x {axis = 1 : i64, combiner = #graph.combiner<add>, exclusive}
// CHECK: return %x, %[[Y]]
func.func @scan_of_one(%x: tensor<4x1xf32>) -> (tensor<4x1xf32>, tensor<4x1xf32>) {
  %0 = graph.scan %x {axis = 1 : i64, combiner = #graph.combiner<add>} : tensor<4x1xf32> -> tensor<4x1xf32>
  %1 = graph.scan %x {axis = 1 : i64, combiner = #graph.combiner<add>, exclusive} : tensor<4x1xf32> -> tensor<4x1xf32>
  return %0, %1 : tensor<4x1xf32>, tensor<4x1xf32>
}

// A slice from the start on that is as large as its input is its input. One from the last element on is not, whatever size
// its type was given because of what reads it.
// CHECK-LABEL: func.func @whole_or_last
// CHECK: %[[LAST:.*]] = graph.slice %x {{.*}}starts = array<i64: -1>
// CHECK: return %x, %[[LAST]]
func.func @whole_or_last(%x: tensor<?xf32, #dyn.shape<[N]>>) -> (tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>) {
  %N = dyn.symbol "N" : index
  %0 = graph.slice %x {axes = array<i64: 0>, starts = array<i64: 0>, ends = array<i64: 2147483647>, steps = array<i64: 1>} : tensor<?xf32, #dyn.shape<[N]>> -> tensor<?xf32, #dyn.shape<[N]>>
  %1 = graph.slice %x {axes = array<i64: 0>, starts = array<i64: -1>, ends = array<i64: 2147483647>, steps = array<i64: 1>} : tensor<?xf32, #dyn.shape<[N]>> -> tensor<?xf32, #dyn.shape<[N]>>
  return %0, %1 : tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>
}

// A region that joins each result by itself, as a combiner with a name does, becomes that name.
// CHECK-LABEL: func.func @named
func.func @named(%x: tensor<4x8xf32>, %y: tensor<4x8xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  // CHECK: graph.compute {{.*}}combiners = #graph.combiners<[max, add]>
  // CHECK: graph.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: return
  %most, %sum = graph.compute ins(%x, %y : tensor<4x8xf32>, tensor<4x8xi32>) -> tensor<4xf32>, tensor<4xi32> {
    iterators = #graph.iterators<[parallel, reduce]>,
    maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>],
    state = #graph.state<[0xFF800000 : f32, 0 : i32], laws = [associative, commutative]>
  } {
  ^bb0(%e: f32, %f: i32):
    graph.yield %e, %f : f32, i32
  } combine {
  ^bb0(%a: f32, %i: i32, %b: f32, %j: i32):
    %0 = arith.maximumf %b, %a : f32
    %1 = arith.addi %i, %j : i32
    graph.yield %0, %1 : f32, i32
  }
  return %most, %sum : tensor<4xf32>, tensor<4xi32>
}

// Not where the order is not free, where it starts from another number, or where results are joined together.
// CHECK-LABEL: func.func @unnamed
func.func @unnamed(%x: tensor<8xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  // CHECK-COUNT-3: } combine {
  %ordered = graph.compute ins(%x : tensor<8xf32>) -> tensor<f32> {iterators = #graph.iterators<[reduce]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], state = #graph.state<[0.0 : f32], laws = [commutative]>} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  } combine {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    graph.yield %0 : f32
  }
  %other = graph.compute ins(%x : tensor<8xf32>) -> tensor<f32> {iterators = #graph.iterators<[reduce]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], state = #graph.state<[1.0 : f32], laws = [associative, commutative]>} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  } combine {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.maximumf %a, %b : f32
    graph.yield %0 : f32
  }
  %s, %t = graph.compute ins(%x : tensor<8xf32>) -> tensor<f32>, tensor<f32> {iterators = #graph.iterators<[reduce]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> ()>], state = #graph.state<[0.0 : f32, 0.0 : f32], laws = [associative, commutative]>} {
  ^bb0(%e: f32):
    graph.yield %e, %e : f32, f32
  } combine {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %0 = arith.addf %a, %c : f32
    %1 = arith.addf %a, %d : f32
    graph.yield %0, %1 : f32, f32
  }
  return %ordered, %other, %s, %t : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// What copies a tensor is that tensor; what turns it, gives it another type, or copies what comes in, is not.
// CHECK-LABEL: func.func @copies
// CHECK-NEXT: %[[N:.*]] = graph.compute
// CHECK: math.absf
// CHECK: %[[C:.*]] = graph.compute ins(%x
// CHECK: %[[T:.*]] = graph.compute ins(%x
// CHECK: %[[S:.*]] = graph.compute ins(%[[N]]
// CHECK: return %[[N]], %[[C]], %[[T]], %[[S]]
func.func @copies(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> (tensor<?x?xf32, #dyn.shape<[M, N]>>, tensor<?x?xf32, #dyn.shape<[M, N]>>, tensor<?x?xf32, #dyn.shape<[N, M]>>, tensor<?x?xf32>) {
  %n = graph.compute ins(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%a: f32):
    %b = math.absf %a : f32
    graph.yield %b : f32
  }
  %0 = graph.compute ins(%n : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %c = graph.compute ins(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %t = graph.compute ins(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[N, M]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(n, m) -> (m, n)>, affine_map<(n, m) -> (n, m)>]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %s = graph.compute ins(%n : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  return %0, %c, %t, %s : tensor<?x?xf32, #dyn.shape<[M, N]>>, tensor<?x?xf32, #dyn.shape<[M, N]>>, tensor<?x?xf32, #dyn.shape<[N, M]>>, tensor<?x?xf32>
}

// The index of an iterator that runs once is 0, so what a select picks by it is known.
// CHECK-LABEL: func.func @unit_index
// CHECK-NOT: graph.index 0
// CHECK: graph.index 1
// CHECK-NOT: arith.select
func.func @unit_index(%x: tensor<1x?xf32, #dyn.shape<[1, N]>>) -> tensor<1x?xf32, #dyn.shape<[1, N]>> {
  %y = graph.compute ins(%x : tensor<1x?xf32, #dyn.shape<[1, N]>>) -> tensor<1x?xf32, #dyn.shape<[1, N]>>
      {iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]} {
  ^bb0(%e: f32):
    %row = graph.index 0 : index
    %column = graph.index 1 : index
    %none = arith.constant 0 : index
    %later = arith.cmpi sgt, %row, %none : index
    %zero = arith.constant 0.0 : f32
    %number = arith.index_cast %column : index to i64
    %float = arith.sitofp %number : i64 to f32
    %sum = arith.addf %e, %float : f32
    %r = arith.select %later, %zero, %sum : f32
    graph.yield %r : f32
  }
  return %y : tensor<1x?xf32, #dyn.shape<[1, N]>>
}

// Without an index nothing is written; where their number is not known something may be.
// CHECK-LABEL: func.func @scatter_nothing(
// CHECK-SAME: %[[X:[a-z]+]]: tensor<?x4xf32>
// CHECK-NEXT: %[[S:.*]] = graph.scatter %[[X]]
// CHECK-NEXT: return %[[X]], %[[X]], %[[S]]
func.func @scatter_nothing(%x: tensor<?x4xf32>, %at: tensor<0x1xi64>, %no: tensor<0x4xf32>, %some: tensor<?x1xi64>, %u: tensor<?x4xf32>, %e: tensor<0x4xi64>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) {
  %0 = graph.scatter %x, %at, %no : tensor<?x4xf32>, tensor<0x1xi64>, tensor<0x4xf32> -> tensor<?x4xf32>
  %1 = graph.scatter %x, %e, %no {axis = 0 : i64} : tensor<?x4xf32>, tensor<0x4xi64>, tensor<0x4xf32> -> tensor<?x4xf32>
  %2 = graph.scatter %x, %some, %u : tensor<?x4xf32>, tensor<?x1xi64>, tensor<?x4xf32> -> tensor<?x4xf32>
  return %0, %1, %2 : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
}
