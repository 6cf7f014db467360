// RUN: sutura-opt %s --legalize-elements --check-passes --strict | FileCheck %s
// RUN: sutura-opt %s --pass-pipeline='builtin.module(propagate-shapes,legalize-elements,func.func(stitch),convert-graph-to-gir,convert-gir-to-cpu)' --check-passes=2 --strict -o %t.mlir

#one = affine_map<(d0) -> (d0)>
#row = affine_map<(d0, d1) -> (d0)>
#both = affine_map<(d0, d1) -> (d0, d1)>

// Every byte as each of the elements, whatever it has above the element, and what leaves the program has the sign there.
// CHECK-LABEL: func.func @bytes
// CHECK-NOT: tensor<256xi4>
// CHECK: return
func.func @bytes(%x: tensor<256xi8>) -> (tensor<256xi8>, tensor<256xi8>, tensor<256xi8>) {
  %a = graph.bitcast %x : tensor<256xi8> -> tensor<256xi4>
  %b = graph.bitcast %x : tensor<256xi8> -> tensor<256xui4>
  %c = graph.bitcast %x : tensor<256xi8> -> tensor<256xf4E2M1FN>
  %d = graph.bitcast %a : tensor<256xi4> -> tensor<256xi8>
  %e = graph.bitcast %b : tensor<256xui4> -> tensor<256xi8>
  %f = graph.bitcast %c : tensor<256xf4E2M1FN> -> tensor<256xi8>
  return %d, %e, %f : tensor<256xi8>, tensor<256xi8>, tensor<256xi8>
}

// Arguments and results keep their types. What a function of elements makes has its sign already.
// CHECK-LABEL: func.func @through
// CHECK-SAME: %x: tensor<?xi4, #dyn.shape<[N]>>
// CHECK: graph.bitcast %x : tensor<?xi4, #dyn.shape<[N]>> -> tensor<?xi8, #dyn.shape<[N]>>
// CHECK: %[[A:.*]] = graph.compute
// CHECK: arith.muli
// CHECK: graph.bitcast %{{.*}} : tensor<?xi8, #dyn.shape<[N]>> -> tensor<?xi4, #dyn.shape<[N]>>
func.func @through(%x: tensor<?xi4, #dyn.shape<[N]>>, %y: tensor<?xui2, #dyn.shape<[N]>>) -> (tensor<?xi4, #dyn.shape<[N]>>, tensor<?xui2, #dyn.shape<[N]>>, tensor<?xui2, #dyn.shape<[N]>>) {
  %0, %1 = graph.compute ins(%x, %y : tensor<?xi4, #dyn.shape<[N]>>, tensor<?xui2, #dyn.shape<[N]>>) -> tensor<?xi4, #dyn.shape<[N]>>, tensor<?xui2, #dyn.shape<[N]>> {iterators = #graph.iterators<[parallel]>, maps = [#one, #one, #one, #one]} {
  ^bb0(%a: i4, %b: i2):
    %c = arith.muli %a, %a : i4
    %d = arith.addi %b, %b : i2
    graph.yield %c, %d : i4, i2
  }
  return %0, %1, %y : tensor<?xi4, #dyn.shape<[N]>>, tensor<?xui2, #dyn.shape<[N]>>, tensor<?xui2, #dyn.shape<[N]>>
}

// Sums and products of signed integers wrap; the largest of none, and of a row.
// CHECK-LABEL: func.func @rows
// CHECK: graph.scan {{.*}}xi8
func.func @rows(%x: tensor<?x?xi4, #dyn.shape<[M, N]>>) -> (tensor<?xi4, #dyn.shape<[M]>>, tensor<?xi4, #dyn.shape<[M]>>, tensor<?xi4, #dyn.shape<[M]>>, tensor<?xi4, #dyn.shape<[M]>>, tensor<?x?xi4, #dyn.shape<[M, N]>>, tensor<?x?xi4, #dyn.shape<[M, N]>>) {
  %0, %1, %2, %3 = graph.compute ins(%x : tensor<?x?xi4, #dyn.shape<[M, N]>>) -> tensor<?xi4, #dyn.shape<[M]>>, tensor<?xi4, #dyn.shape<[M]>>, tensor<?xi4, #dyn.shape<[M]>>, tensor<?xi4, #dyn.shape<[M]>> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add, mul, max, min]>, maps = [#both, #row, #row, #row, #row]} {
  ^bb0(%a: i4):
    graph.yield %a, %a, %a, %a : i4, i4, i4, i4
  }
  %4 = graph.scan %x {axis = 1 : i64, combiner = #graph.combiner<add>} : tensor<?x?xi4, #dyn.shape<[M, N]>> -> tensor<?x?xi4, #dyn.shape<[M, N]>>
  %5 = graph.scan %x {axis = 1 : i64, combiner = #graph.combiner<max>, exclusive} : tensor<?x?xi4, #dyn.shape<[M, N]>> -> tensor<?x?xi4, #dyn.shape<[M, N]>>
  return %0, %1, %2, %3, %4, %5 : tensor<?xi4, #dyn.shape<[M]>>, tensor<?xi4, #dyn.shape<[M]>>, tensor<?xi4, #dyn.shape<[M]>>, tensor<?xi4, #dyn.shape<[M]>>, tensor<?x?xi4, #dyn.shape<[M, N]>>, tensor<?x?xi4, #dyn.shape<[M, N]>>
}

// A state that functions join is of i32.
// CHECK-LABEL: func.func @joined
func.func @joined(%x: tensor<4x9xi4>) -> tensor<4xi4> {
  %0 = graph.compute ins(%x : tensor<4x9xi4>) -> tensor<4xi4> {iterators = #graph.iterators<[parallel, reduce]>, state = #graph.state<[0 : i32], laws = [associative, commutative]>, maps = [#both, #row]} {
  ^bb0(%a: i4):
    %b = arith.muli %a, %a : i4
    %w = arith.extsi %b : i4 to i32
    graph.yield %w : i32
  } combine {
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %a, %b : i32
    graph.yield %c : i32
  }
  return %0 : tensor<4xi4>
}

// A function that is called takes and gives elements with their sign above them.
// CHECK-LABEL: func.func @called
// CHECK: call @other
func.func @called(%x: tensor<4xi2>) -> tensor<4xi2> {
  %0 = graph.reshape %x : tensor<4xi2> -> tensor<2x2xi2>
  %1 = func.call @other(%0) : (tensor<2x2xi2>) -> tensor<2x2xi2>
  %2 = graph.reshape %1 : tensor<2x2xi2> -> tensor<4xi2>
  return %2 : tensor<4xi2>
}
func.func @other(%x: tensor<2x2xi2>) -> tensor<2x2xi2> {
  return %x : tensor<2x2xi2>
}

// What is taken for floats leaves as what it was.
// CHECK-LABEL: func.func @two_types
// CHECK: return %x, %{{.*}} : tensor<3xi8>, tensor<3xf8E5M2>
func.func @two_types(%x: tensor<3xi8>) -> (tensor<3xi8>, tensor<3xf8E5M2>) {
  %0 = graph.bitcast %x : tensor<3xi8> -> tensor<3xf8E5M2>
  return %x, %0 : tensor<3xi8>, tensor<3xf8E5M2>
}

// Elements that are written are joined with their sign.
// CHECK-LABEL: func.func @scattered
func.func @scattered(%x: tensor<5xi4>, %i: tensor<3xi64>, %u: tensor<3xi4>) -> tensor<5xi4> {
  %z = graph.compute ins(%i : tensor<3xi64>) -> tensor<3x1xi64> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#row, #both]} {
  ^bb0(%a: i64):
    %three = arith.constant 3 : i64
    %b = arith.andi %a, %three : i64
    graph.yield %b : i64
  }
  %0 = graph.scatter %x, %z, %u {combiner = #graph.combiner<max>} : tensor<5xi4>, tensor<3x1xi64>, tensor<3xi4> -> tensor<5xi4>
  return %0 : tensor<5xi4>
}

// A number that was extended to a byte is a byte: sums of it are not cut to the bits that it had.
// CHECK-LABEL: func.func @extended
// CHECK: %[[SUM:.*]] = arith.addi
// CHECK-NEXT: graph.yield %[[SUM]]
func.func @extended(%x: tensor<16xi4>) -> tensor<16xi8> {
  %0 = graph.compute ins(%x : tensor<16xi4>) -> tensor<16xi8> {iterators = #graph.iterators<[parallel]>, maps = [#one, #one]} {
  ^bb0(%a: i4):
    %b = arith.extsi %a : i4 to i8
    %c = arith.constant 100 : i8
    %d = arith.addi %b, %c : i8
    graph.yield %d : i8
  }
  return %0 : tensor<16xi8>
}
