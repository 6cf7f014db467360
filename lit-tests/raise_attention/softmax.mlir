// A softmax that is written out gets its name, with a reciprocal or a division, wherever it stands.
// RUN: sutura-opt %s --raise-attention --check-passes -o %t.out
// RUN: FileCheck %s --input-file=%t.out
// RUN: sutura-opt %s --raise-attention --expand-operators --check-passes | sutura-opt --raise-attention | FileCheck %s

!q = tensor<?x2x?x16xf32, #dyn.shape<[B, 2, L, 16]>>
!k = tensor<?x2x?x16xf32, #dyn.shape<[B, 2, S, 16]>>
!s = tensor<?x2x?x?xf32, #dyn.shape<[B, 2, L, S]>>
!r = tensor<?x2x?xf32, #dyn.shape<[B, 2, L]>>
!m = tensor<?x1x1x?xf32, #dyn.shape<[B, 1, 1, S]>>
#qd = affine_map<(b, h, l, s, d) -> (b, h, l, d)>
#kd = affine_map<(b, h, l, s, d) -> (b, h, s, d)>
#ls = affine_map<(b, h, l, s, d) -> (b, h, l, s)>
#w = affine_map<(b, h, l, e, s) -> (b, h, l, s)>
#v = affine_map<(b, h, l, e, s) -> (b, h, s, e)>
#y = affine_map<(b, h, l, e, s) -> (b, h, l, e)>
#id = affine_map<(b, h, l, s) -> (b, h, l, s)>
#row = affine_map<(b, h, l, s) -> (b, h, l)>
#keys = affine_map<(b, h, l, s) -> (b, 0, 0, s)>
!u = tensor<?x2x?x1xf32, #dyn.shape<[B, 2, L, 1]>>
#unit = affine_map<(b, h, l, s) -> (b, h, l, 0)>

// CHECK-LABEL: func.func @by_division(
// CHECK: %[[Y:.*]] = graph.apply @softmax_by_division(%t) {axis = 3 : i64}
// CHECK-NEXT: return %[[Y]]
func.func @by_division(%t: !s) -> !s {
  %max = graph.compute ins(%t : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %exp = graph.compute ins(%t, %max : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.subf %a, %b : f32
    %y = math.exp %x : f32
    graph.yield %y : f32
  }
  %sum = graph.compute ins(%exp : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %out = graph.compute ins(%exp, %sum : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %y = arith.divf %a, %b : f32
    graph.yield %y : f32
  }
  func.return %out : !s
}

// CHECK-LABEL: func.func @by_reciprocal(
// CHECK: %[[Y:.*]] = graph.apply @softmax(%t) {axis = 3 : i64}
// CHECK-NEXT: return %[[Y]]
func.func @by_reciprocal(%t: !s) -> !s {
  %max = graph.compute ins(%t : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %exp = graph.compute ins(%t, %max : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.subf %a, %b : f32
    %y = math.exp %x : f32
    graph.yield %y : f32
  }
  %sum = graph.compute ins(%exp : !s) -> !r {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %out = graph.compute ins(%exp, %sum : !s, !r) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %one = arith.constant 1.0 : f32
    %z = arith.divf %one, %b : f32
    %y = arith.mulf %a, %z : f32
    graph.yield %y : f32
  }
  func.return %out : !s
}

// One op for each number, and a dimension of one element in the place of the axis, as exporters write it.
// CHECK-LABEL: func.func @one_by_one(
// CHECK: %[[Y:.*]] = graph.apply @softmax_by_division(%t) {axis = 3 : i64}
// CHECK-NEXT: return %[[Y]]
func.func @one_by_one(%t: !s) -> !s {
  %max = graph.compute ins(%t : !s) -> !u {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #unit]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %shifted = graph.compute ins(%t, %max : !s, !u) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #unit, #id]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.subf %a, %b : f32
    graph.yield %x : f32
  }
  %exp = graph.compute ins(%shifted : !s) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %y = math.exp %a : f32
    graph.yield %y : f32
  }
  %sum = graph.compute ins(%exp : !s) -> !u {iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #unit]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %out = graph.compute ins(%exp, %sum : !s, !u) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #unit, #id]} {
  ^bb0(%a: f32, %b: f32):
    %y = arith.divf %a, %b : f32
    graph.yield %y : f32
  }
  func.return %out : !s
}

// Along another dimension.
// CHECK-LABEL: func.func @in_the_middle(
// CHECK: %[[Y:.*]] = graph.apply @softmax(%t) {axis = 2 : i64}
// CHECK-NEXT: return %[[Y]]
func.func @in_the_middle(%t: !s) -> !s {
  %max = graph.compute ins(%t : !s) -> tensor<?x2x?xf32, #dyn.shape<[B, 2, S]>> {iterators = #graph.iterators<[parallel, parallel, reduce, parallel]>, combiners = #graph.combiners<[max]>, maps = [#id, affine_map<(b, h, l, s) -> (b, h, s)>]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %exp = graph.compute ins(%t, %max : !s, tensor<?x2x?xf32, #dyn.shape<[B, 2, S]>>) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, affine_map<(b, h, l, s) -> (b, h, s)>, #id]} {
  ^bb0(%a: f32, %b: f32):
    %x = arith.subf %a, %b : f32
    %y = math.exp %x : f32
    graph.yield %y : f32
  }
  %sum = graph.compute ins(%exp : !s) -> tensor<?x2x?xf32, #dyn.shape<[B, 2, S]>> {iterators = #graph.iterators<[parallel, parallel, reduce, parallel]>, combiners = #graph.combiners<[add]>, maps = [#id, affine_map<(b, h, l, s) -> (b, h, s)>]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %out = graph.compute ins(%exp, %sum : !s, tensor<?x2x?xf32, #dyn.shape<[B, 2, S]>>) -> !s {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, affine_map<(b, h, l, s) -> (b, h, s)>, #id]} {
  ^bb0(%a: f32, %b: f32):
    %one = arith.constant 1.0 : f32
    %z = arith.divf %one, %b : f32
    %y = arith.mulf %a, %z : f32
    graph.yield %y : f32
  }
  func.return %out : !s
}
