// RUN: sutura-opt %s --legalize-elements --check-passes --strict | FileCheck %s
// RUN: sutura-opt %s --pass-pipeline='builtin.module(propagate-shapes,legalize-elements,func.func(stitch),convert-graph-to-gir,convert-gir-to-cpu)' --check-passes=2 --strict -o %t.mlir

#one = affine_map<(d0) -> (d0)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>
#both = affine_map<(d0, d1) -> (d0, d1)>

// Every number of 4 bits becomes floats, by its sign and without one.
// CHECK-LABEL: func.func @weights
// CHECK: graph.constant dense<{{.*}}> : tensor<16xi8>
// CHECK-NOT: i4
// CHECK: return
func.func @weights(%x: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf64>) {
  %s = graph.constant dense<[-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7]> : tensor<16xi4>
  %u = graph.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]> : tensor<16xui4>
  %0, %1 = graph.compute ins(%s, %u, %x : tensor<16xi4>, tensor<16xui4>, tensor<16xf32>) -> tensor<16xf32>, tensor<16xf64> {iterators = #graph.iterators<[parallel]>, maps = [#one, #one, #one, #one, #one]} {
  ^bb0(%a: i4, %b: i4, %c: f32):
    %d = arith.sitofp %a : i4 to f32
    %e = arith.mulf %d, %c : f32
    %f = arith.uitofp %b : i4 to f64
    graph.yield %e, %f : f32, f64
  }
  return %0, %1 : tensor<16xf32>, tensor<16xf64>
}

// All pairs: what leaves the range wraps around.
// CHECK-LABEL: func.func @pairs
// CHECK-NOT: i4
// CHECK: return
func.func @pairs() -> (tensor<16x16xi16>, tensor<16x16xi16>, tensor<16x16xi8>) {
  %s = graph.constant dense<[-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7]> : tensor<16xi4>
  %0, %1, %2 = graph.compute ins(%s, %s : tensor<16xi4>, tensor<16xi4>) -> tensor<16x16xi16>, tensor<16x16xi16>, tensor<16x16xi8> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#row, #column, #both, #both, #both]} {
  ^bb0(%a: i4, %b: i4):
    %add = arith.addi %a, %b : i4
    %sub = arith.subi %a, %b : i4
    %mul = arith.muli %a, %b : i4
    %and = arith.andi %add, %b : i4
    %or = arith.ori %sub, %mul : i4
    %xor = arith.xori %and, %or : i4
    %least = arith.minui %xor, %a : i4
    %most = arith.maxsi %least, %sub : i4
    %three = arith.constant 3 : i4
    %by = arith.andi %b, %three : i4
    %left = arith.shli %most, %by : i4
    %right = arith.shrui %mul, %by : i4
    %less = arith.cmpi ult, %left, %right : i4
    %below = arith.cmpi slt, %left, %right : i4
    %chosen = arith.select %less, %left, %right : i4
    %one = arith.constant 1 : i4
    %odd = arith.ori %b, %one : i4
    %quotient = arith.divui %chosen, %odd : i4
    %rest = arith.remui %a, %odd : i4
    %w0 = arith.extsi %quotient : i4 to i16
    %w1 = arith.extui %rest : i4 to i16
    %w2 = arith.extsi %left : i4 to i16
    %w3 = arith.extui %right : i4 to i16
    %y0 = arith.addi %w0, %w1 : i16
    %y1 = arith.subi %w2, %w3 : i16
    %t = arith.extui %below : i1 to i4
    %y2 = arith.extui %t : i4 to i8
    graph.yield %y0, %y1, %y2 : i16, i16, i8
  }
  return %0, %1, %2 : tensor<16x16xi16>, tensor<16x16xi16>, tensor<16x16xi8>
}

// Conversions to 2 and 4 bits, and what moves elements.
// CHECK-LABEL: func.func @moves
// CHECK-NOT: i2
// CHECK: graph.concat {{.*}} -> tensor<8xi8>
// CHECK: return
func.func @moves(%x: tensor<4xi32>) -> (tensor<8xi32>, tensor<8xi32>) {
  %s = graph.constant dense<[-2, -1, 0, 1]> : tensor<4xi2>
  %u = graph.constant dense<[0, 1, 2, 3]> : tensor<4xui2>
  %0, %1 = graph.compute ins(%x : tensor<4xi32>) -> tensor<4xi2>, tensor<4xui2> {iterators = #graph.iterators<[parallel]>, maps = [#one, #one, #one]} {
  ^bb0(%a: i32):
    %b = arith.trunci %a : i32 to i4
    %c = arith.trunci %b : i4 to i2
    graph.yield %c, %c : i2, i2
  }
  %2 = graph.concat %0, %s {axis = 0 : i64} : tensor<4xi2>, tensor<4xi2> -> tensor<8xi2>
  %3 = graph.concat %u, %1 {axis = 0 : i64} : tensor<4xui2>, tensor<4xui2> -> tensor<8xui2>
  %4, %5 = graph.compute ins(%2, %3 : tensor<8xi2>, tensor<8xui2>) -> tensor<8xi32>, tensor<8xi32> {iterators = #graph.iterators<[parallel]>, maps = [#one, #one, #one, #one]} {
  ^bb0(%a: i2, %b: i2):
    %c = arith.extsi %a : i2 to i4
    %d = arith.extsi %c : i4 to i32
    %e = arith.extui %b : i2 to i4
    %f = arith.extui %e : i4 to i32
    graph.yield %d, %f : i32, i32
  }
  return %4, %5 : tensor<8xi32>, tensor<8xi32>
}
