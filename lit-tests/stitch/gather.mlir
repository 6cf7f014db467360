// RUN: sutura-opt %s --stitch --split-input-file | FileCheck %s

!matrix = tensor<?x?xf32, #dyn.shape<[M, N]>>
!column = tensor<?x1xf32, #dyn.shape<[M, 1]>>
!vector = tensor<?xf32, #dyn.shape<[M]>>
!labels = tensor<?x1xi64, #dyn.shape<[M, 1]>>
!each = tensor<?x?xi64, #dyn.shape<[M, N]>>
#two = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// What only one index of each row is read of is computed there alone, in the kernel that combines the row.
// CHECK-LABEL: func.func @label
// CHECK-COUNT-1: graph.fusion(%x, %l : {{.*}}
// CHECK: graph.gather_elements
// CHECK-NOT: graph.fusion
func.func @label(%x: !matrix, %l: !labels) -> !column {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %s = graph.compute ins(%x : !matrix) -> !vector {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#two, #row]} {
  ^bb0(%a: f32):
    %0 = math.exp %a : f32
    graph.yield %0 : f32
  }
  %p = graph.compute ins(%x, %s : !matrix, !vector) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#two, #row, #two]} {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    graph.yield %0 : f32
  }
  %y = graph.gather_elements %p, %l {axis = 1 : i64} : !matrix, !labels -> !column
  return %y : !column
}

// -----

!matrix = tensor<?x?xf32, #dyn.shape<[M, N]>>
!each = tensor<?x?xi64, #dyn.shape<[M, N]>>
#two = affine_map<(d0, d1) -> (d0, d1)>

// Where each column has an index of its own, there are no runs to read.
// CHECK-LABEL: func.func @columns
// CHECK: {reasons = ["%e: {{.*}}reads each column at an index of its own, from %i
func.func @columns(%x: !matrix, %i: !each) -> !matrix {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %e = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#two, #two]} {
  ^bb0(%a: f32):
    %0 = math.exp %a : f32
    graph.yield %0 : f32
  }
  %y = graph.gather_elements %e, %i {axis = 1 : i64} : !matrix, !each -> !matrix
  return %y : !matrix
}

// -----

!matrix = tensor<?x?xf32, #dyn.shape<[M, N]>>
!each = tensor<?x?xi64, #dyn.shape<[M, N]>>
#two = affine_map<(d0, d1) -> (d0, d1)>

// Where indices are a part of others, those are read.
// CHECK-LABEL: func.func @part
// CHECK-COUNT-1: graph.fusion(
// CHECK-NOT: graph.fusion
func.func @part(%x: !matrix, %i: tensor<1x512xi64>) -> tensor<1x?x?xf32, #dyn.shape<[1, K, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %K = dyn.symbol "K" {range = [0, 512]} : index
  %j = graph.compute ins(%i : tensor<1x512xi64>) -> tensor<1x?xi64, #dyn.shape<[1, K]>> {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#two, #two]
  } {
  ^bb0(%a: i64):
    graph.yield %a : i64
  }
  %y = graph.gather %x, %j {axis = 0 : i64} : !matrix, tensor<1x?xi64, #dyn.shape<[1, K]>> -> tensor<1x?x?xf32, #dyn.shape<[1, K, N]>>
  return %y : tensor<1x?x?xf32, #dyn.shape<[1, K, N]>>
}

// -----

!matrix = tensor<?x?xf32, #dyn.shape<[M, N]>>
!each = tensor<?x?xi64, #dyn.shape<[M, N]>>
#two = affine_map<(d0, d1) -> (d0, d1)>

// Those of a column have other numbers than in all of the tensor, by which a wrong one would be reported.
// CHECK-LABEL: func.func @column
// CHECK: reasons = ["%j: {{.*}}reads at indices, %j, that the region makes
func.func @column(%x: !matrix, %i: tensor<?x512xi64, #dyn.shape<[K, 512]>>) -> tensor<?x?xf32, #dyn.shape<[K, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %K = dyn.symbol "K" : index
  %j = graph.compute ins(%i : tensor<?x512xi64, #dyn.shape<[K, 512]>>) -> tensor<?xi64, #dyn.shape<[K]>> {
    iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0, 3)>, affine_map<(d0) -> (d0)>]
  } {
  ^bb0(%a: i64):
    graph.yield %a : i64
  }
  %y = graph.gather %x, %j {axis = 0 : i64} : !matrix, tensor<?xi64, #dyn.shape<[K]>> -> tensor<?x?xf32, #dyn.shape<[K, N]>>
  return %y : tensor<?x?xf32, #dyn.shape<[K, N]>>
}

// -----

!matrix = tensor<?x?xf32, #dyn.shape<[M, N]>>
!each = tensor<?x?xi64, #dyn.shape<[M, N]>>
#two = affine_map<(d0, d1) -> (d0, d1)>

// Indices that a region computes are made by a kernel of their own.
// CHECK-LABEL: func.func @made
// CHECK: reasons = ["%j: {{.*}}reads at indices, %j, that the region makes
func.func @made(%x: !matrix, %i: tensor<?xi64, #dyn.shape<[K]>>) -> tensor<?x?xf32, #dyn.shape<[K, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %K = dyn.symbol "K" : index
  %j = graph.compute ins(%i : tensor<?xi64, #dyn.shape<[K]>>) -> tensor<?xi64, #dyn.shape<[K]>> {
    iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
  } {
  ^bb0(%a: i64):
    %0 = arith.addi %a, %a : i64
    graph.yield %0 : i64
  }
  %y = graph.gather %x, %j {axis = 0 : i64} : !matrix, tensor<?xi64, #dyn.shape<[K]>> -> tensor<?x?xf32, #dyn.shape<[K, N]>>
  return %y : tensor<?x?xf32, #dyn.shape<[K, N]>>
}
