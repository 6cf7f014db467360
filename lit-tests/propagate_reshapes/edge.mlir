// Sizes of zero and one, several readers, functions with nothing to do.

// RUN: sutura-opt %s --propagate-reshapes | FileCheck %s
// RUN: sutura-opt %s --propagate-reshapes -o %t.once
// RUN: sutura-opt %t.once --propagate-reshapes -o %t.twice
// RUN: diff %t.once %t.twice
// RUN: sutura-opt %s --propagate-reshapes --stitch --convert-graph-to-gir --convert-gir-to-cpu --check-passes=2 --strict -o /dev/null

#line = affine_map<(d0) -> (d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#first = affine_map<(d0, d1) -> (d0)>
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// CHECK-LABEL: func.func @nothing
// CHECK-NEXT: graph.reshape
// CHECK-NEXT: return
func.func @nothing(%x: tensor<4xf32>) -> tensor<2x2xf32> {
  %y = graph.reshape %x : tensor<4xf32> -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// What a program takes and gives away is reshaped where it lies: no op changes.
// CHECK-LABEL: func.func @edges
// CHECK: graph.reshape %x
// CHECK: graph.compute {{.*}} -> tensor<2x2xf32> {iterators = #graph.iterators<[parallel, parallel]>
// CHECK: graph.reshape
// CHECK: return
func.func @edges(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = graph.reshape %x : tensor<4xf32> -> tensor<2x2xf32>
  %y = graph.compute ins(%r : tensor<2x2xf32>) -> tensor<2x2xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %0 = arith.negf %a : f32
    graph.yield %0 : f32
  }
  %z = graph.reshape %y : tensor<2x2xf32> -> tensor<4xf32>
  return %z : tensor<4xf32>
}

// A dimension of size 1 more or less needs no more iterators: the reader reads what there is.
// CHECK-LABEL: func.func @units
// CHECK: %sum = graph.compute
// CHECK-NOT: graph.reshape
// CHECK: %y = graph.compute ins(%x, %sum : {{.*}}, tensor<?xf32, #dyn.shape<[M]>>) -> {{.*}} {iterators = #graph.iterators<[parallel, parallel]>
// CHECK-NEXT: ^bb0
func.func @units(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" {range = [0, 9], likely = [1]} : index
  %N = dyn.symbol "N" {range = [0, 99], likely = [33]} : index
  %sum = graph.compute ins(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?xf32, #dyn.shape<[M]>>
      {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #first]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %column = graph.reshape %sum : tensor<?xf32, #dyn.shape<[M]>> -> tensor<?x1xf32, #dyn.shape<[M, 1]>>
  %y = graph.compute ins(%x, %column : tensor<?x?xf32, #dyn.shape<[M, N]>>, tensor<?x1xf32, #dyn.shape<[M, 1]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>>
      {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, affine_map<(d0, d1) -> (d0, 0)>, #id]} {
  ^bb0(%a: f32, %s: f32):
    %0 = arith.subf %a, %s : f32
    graph.yield %0 : f32
  }
  return %y : tensor<?x?xf32, #dyn.shape<[M, N]>>
}

// Both forms are used elsewhere too, one of them twice: each is one view.
// CHECK-LABEL: func.func @readers
// CHECK: %y = graph.compute
// CHECK-SAME: -> tensor<?x3x4xf32, #dyn.shape<[M, 3, 4]>>
// CHECK: %[[Y:.*]] = graph.reshape %y : {{.*}} -> tensor<?x12xf32
// CHECK: %[[H:.*]] = graph.reshape %y : {{.*}} -> tensor<?x4xf32, #dyn.shape<[3*M, 4]>>
// CHECK: %e = graph.compute ins(%y :
// CHECK: %[[E:.*]] = graph.reshape %e : {{.*}} -> tensor<?x4xf32, #dyn.shape<[3*M, 4]>>
// CHECK: return %[[Y]], %[[H]], %[[E]], %[[E]]
func.func @readers(%x: tensor<?x12xf32, #dyn.shape<[M, 12]>>) -> (
    tensor<?x12xf32, #dyn.shape<[M, 12]>>, tensor<?x4xf32, #dyn.shape<[3*M, 4]>>, tensor<?x4xf32, #dyn.shape<[3*M, 4]>>,
    tensor<?x4xf32, #dyn.shape<[3*M, 4]>>) {
  %M = dyn.symbol "M" {range = [0, 9], likely = [2]} : index
  %y = graph.compute ins(%x : tensor<?x12xf32, #dyn.shape<[M, 12]>>) -> tensor<?x12xf32, #dyn.shape<[M, 12]>>
      {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %0 = arith.negf %a : f32
    graph.yield %0 : f32
  }
  %h = graph.reshape %y : tensor<?x12xf32, #dyn.shape<[M, 12]>> -> tensor<?x4xf32, #dyn.shape<[3*M, 4]>>
  %e = graph.compute ins(%h : tensor<?x4xf32, #dyn.shape<[3*M, 4]>>) -> tensor<?x4xf32, #dyn.shape<[3*M, 4]>>
      {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %0 = math.absf %a : f32
    graph.yield %0 : f32
  }
  return %y, %h, %e, %e : tensor<?x12xf32, #dyn.shape<[M, 12]>>, tensor<?x4xf32, #dyn.shape<[3*M, 4]>>,
      tensor<?x4xf32, #dyn.shape<[3*M, 4]>>, tensor<?x4xf32, #dyn.shape<[3*M, 4]>>
}

// Reshapes of reshapes; a vector that is constant is reshaped at compile time.
// CHECK-LABEL: func.func @chain
// CHECK: %[[C:.*]] = graph.reshape %c : tensor<6xf32> -> tensor<2x3xf32>
// CHECK: %y = graph.compute ins(%{{.*}}, %[[C]] : tensor<4x2x3xf32>, tensor<2x3xf32>) -> tensor<4x2x3xf32>
// CHECK-NEXT: ^bb0
// CHECK: graph.compute ins(%y : tensor<4x2x3xf32>) -> tensor<4x2x3xf32>
func.func @chain(%x: tensor<4x6xf32>) -> tensor<8x3xf32> {
  %c = graph.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>
  %y = graph.compute ins(%x, %c : tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
      {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, affine_map<(d0, d1) -> (d1)>, #id]} {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    graph.yield %0 : f32
  }
  %flat = graph.reshape %y : tensor<4x6xf32> -> tensor<24xf32>
  %h = graph.reshape %flat : tensor<24xf32> -> tensor<8x3xf32>
  %e = graph.compute ins(%h : tensor<8x3xf32>) -> tensor<8x3xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %0 = math.absf %a : f32
    graph.yield %0 : f32
  }
  return %e : tensor<8x3xf32>
}

// Of nothing there are as many parts as one likes, but they are the same number on both sides only where that is said.
// CHECK-LABEL: func.func @empty
// CHECK: %y = graph.compute ins(%{{.*}} : tensor<0x2x3xf32>) -> tensor<0x2x3xf32>
// CHECK: graph.compute ins(%y : tensor<0x2x3xf32>)
// CHECK: %z = graph.compute ins(%{{.*}} : tensor<0x2x3xf32>) -> tensor<0x2x3xf32>
// CHECK: %r = graph.reshape %z : tensor<0x2x3xf32> -> tensor<5x0xf32>
// CHECK: graph.compute ins(%r :
func.func @empty(%x: tensor<0x6xf32>) -> (tensor<0x2x3xf32>, tensor<5x0xf32>) {
  %y = graph.compute ins(%x : tensor<0x6xf32>) -> tensor<0x6xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %0 = arith.negf %a : f32
    graph.yield %0 : f32
  }
  %h = graph.reshape %y : tensor<0x6xf32> -> tensor<0x2x3xf32>
  %e = graph.compute ins(%h : tensor<0x2x3xf32>) -> tensor<0x2x3xf32>
      {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id3, #id3]} {
  ^bb0(%a: f32):
    %0 = arith.negf %a : f32
    graph.yield %0 : f32
  }
  %z = graph.compute ins(%x : tensor<0x6xf32>) -> tensor<0x6xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %0 = math.absf %a : f32
    graph.yield %0 : f32
  }
  %r = graph.reshape %z : tensor<0x6xf32> -> tensor<5x0xf32>
  %f = graph.compute ins(%r : tensor<5x0xf32>) -> tensor<5x0xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %0 = math.absf %a : f32
    graph.yield %0 : f32
  }
  return %e, %f : tensor<0x2x3xf32>, tensor<5x0xf32>
}

// The index of a dimension that stays whole has another number.
// CHECK-LABEL: func.func @renumbered
// CHECK: iterators = #graph.iterators<[parallel, parallel, parallel]>
// CHECK: graph.index 2
// CHECK: graph.compute
func.func @renumbered(%x: tensor<6x5xi64>) -> tensor<2x3x5xi64> {
  %y = graph.compute ins(%x : tensor<6x5xi64>) -> tensor<6x5xi64> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: i64):
    %i = graph.index 1 : index
    %0 = arith.index_cast %i : index to i64
    %1 = arith.addi %a, %0 : i64
    graph.yield %1 : i64
  }
  %h = graph.reshape %y : tensor<6x5xi64> -> tensor<2x3x5xi64>
  %e = graph.compute ins(%h : tensor<2x3x5xi64>) -> tensor<2x3x5xi64>
      {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id3, #id3]} {
  ^bb0(%a: i64):
    %0 = arith.muli %a, %a : i64
    graph.yield %0 : i64
  }
  return %e : tensor<2x3x5xi64>
}
