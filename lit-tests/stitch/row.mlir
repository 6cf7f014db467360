// RUN: sutura-opt %s --stitch | FileCheck %s
// RUN: sutura-opt %s --stitch | sutura-opt --stitch | FileCheck %s
// RUN: sutura-opt %s --stitch -o %t.one --threads=1
// RUN: sutura-opt %s --stitch -o %t.many --threads=8
// RUN: diff %t.one %t.many
// RUN: sutura-opt %s --stitch --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: sutura-opt %s --stitch --pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=STATS

!matrix = tensor<?x?xf32, #dyn.shape<[M, N]>>
!column = tensor<?x1xf32, #dyn.shape<[M, 1]>>
!row = tensor<?xf32, #dyn.shape<[N]>>
#id = affine_map<(d0, d1) -> (d0, d1)>
#first = affine_map<(d0, d1) -> (d0, 0)>
#second = affine_map<(d0, d1) -> (d1)>

// STATS: Stitch
// STATS: (S) 4 num-regions - regions made
// STATS: (S) 15 num-ops - operations in them
// STATS: (S) 0 num-copies-folded

// Four ops that share their rows, two of which combine them. Facts about what the types mention come along; %K is of
// nobody's concern there.
// CHECK-LABEL: func.func @softmax
// CHECK: graph.fusion(%x :
// CHECK-NEXT: ^bb0(%[[X:.*]]: !matrix):
// CHECK-NEXT: dyn.symbol "M" : index
// CHECK-NEXT: dyn.symbol "N" {likely = [64], range = [1, 512]} : index
// CHECK-NEXT: graph.compute ins(%[[X]] :
func.func @softmax(%x: !matrix, %other: tensor<?xf32, #dyn.shape<[K]>>) -> !matrix {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" {range = [1, 512], likely = [64]} : index
  %K = dyn.symbol "K" : index
  // REMARK: row.mlir:[[#@LINE+1]]:10: remark: a region of the family 'row' with 4 ops
  %max = graph.compute ins(%x : !matrix) -> !column {
    iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #first]
  } {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  // CHECK: math.exp
  %e = graph.compute ins(%x, %max : !matrix, !column) -> !matrix {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #id]
  } {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    graph.yield %1 : f32
  }
  // CHECK: combiners = #graph.combiners<[add]>
  %sum = graph.compute ins(%e : !matrix) -> !column {
    iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #first]
  } {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  // CHECK: arith.divf
  %y = graph.compute ins(%e, %sum : !matrix, !column) -> !matrix {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #id]
  } {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.divf %a, %b : f32
    graph.yield %0 : f32
  }
  // CHECK: graph.yield %{{.*}} : !matrix
  // CHECK-NEXT: }
  // CHECK-NEXT: return
  return %y : !matrix
}

// Means, deviations, scale and shift of rows, with the sum before them, which is used outside too.
// CHECK-LABEL: func.func @layer_norm
// CHECK: %[[R:.*]]:2 = graph.fusion(%x, %r, %scale, %shift :
// CHECK-NOT: graph.fusion
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @layer_norm(%x: !matrix, %r: !matrix, %scale: !row, %shift: !row) -> (!matrix, !matrix) {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" {range = [1, 512], likely = [64]} : index
  // REMARK: row.mlir:[[#@LINE+1]]:8: remark: a region of the family 'row' with 8 ops
  %0 = graph.compute ins(%x, %r : !matrix, !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%a: f32, %b: f32):
    %v = arith.addf %a, %b : f32
    graph.yield %v : f32
  }
  %1 = graph.compute ins(%0 : !matrix) -> !column {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #first]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %2 = graph.compute ins(%1 : !column) -> !column {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %n = graph.size [N] : index
    %i = arith.index_cast %n : index to i32
    %c = arith.sitofp %i : i32 to f32
    %v = arith.divf %a, %c : f32
    graph.yield %v : f32
  }
  %3 = graph.compute ins(%0, %2 : !matrix, !column) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #id]} {
  ^bb0(%a: f32, %b: f32):
    %v = arith.subf %a, %b : f32
    graph.yield %v : f32
  }
  %4 = graph.compute ins(%3 : !matrix) -> !column {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #first]} {
  ^bb0(%a: f32):
    %v = arith.mulf %a, %a : f32
    graph.yield %v : f32
  }
  %5 = graph.compute ins(%4 : !column) -> !column {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %eps = arith.constant 1.0e-5 : f32
    %n = graph.size [N] : index
    %i = arith.index_cast %n : index to i32
    %c = arith.sitofp %i : i32 to f32
    %v = arith.divf %a, %c : f32
    %w = arith.addf %v, %eps : f32
    %s = math.sqrt %w : f32
    graph.yield %s : f32
  }
  %6 = graph.compute ins(%3, %5 : !matrix, !column) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #id]} {
  ^bb0(%a: f32, %b: f32):
    %v = arith.divf %a, %b : f32
    graph.yield %v : f32
  }
  %7 = graph.compute ins(%6, %scale, %shift : !matrix, !row, !row) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #second, #second, #id]} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %v = arith.mulf %a, %b : f32
    %w = arith.addf %v, %c : f32
    graph.yield %w : f32
  }
  return %0, %7 : !matrix, !matrix
}

// Sizes that are known, one of them zero.
// CHECK-LABEL: func.func @static
// CHECK-COUNT-1: graph.fusion
func.func @static(%x: tensor<0x8xf32>) -> tensor<0x8xf32> {
  // REMARK: row.mlir:[[#@LINE+1]]:8: remark: a region of the family 'row' with 2 ops
  %s = graph.compute ins(%x : tensor<0x8xf32>) -> tensor<0x1xf32> {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #first]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %y = graph.compute ins(%x, %s : tensor<0x8xf32>, tensor<0x1xf32>) -> tensor<0x8xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #id]} {
  ^bb0(%a: f32, %b: f32):
    %v = arith.divf %a, %b : f32
    graph.yield %v : f32
  }
  return %y : tensor<0x8xf32>
}

// A number of no dimensions is a row of its own.
// CHECK-LABEL: func.func @number
func.func @number(%x: tensor<f32>) -> tensor<f32> {
  // REMARK: row.mlir:[[#@LINE+1]]:8: remark: a region of the family 'row' with 1 op
  %y = graph.compute ins(%x : tensor<f32>) -> tensor<f32> {iterators = #graph.iterators<[]>, maps = [affine_map<() -> ()>, affine_map<() -> ()>]} {
  ^bb0(%a: f32):
    %v = arith.negf %a : f32
    graph.yield %v : f32
  }
  return %y : tensor<f32>
}
