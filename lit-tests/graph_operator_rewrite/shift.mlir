// What is added to all elements along the axis of a softmax goes, where rounding may change and numbers are finite.
// RUN: sutura-opt %s --operators builtin --graph-operator-rewrite=fast-math=reassoc,nnan,ninf -o %t.out
// RUN: FileCheck %s --input-file=%t.out
// RUN: sutura-opt %s --operators builtin --graph-operator-rewrite=fast-math=reassoc --remarks -o %t.kept 2>&1 | FileCheck %s --check-prefix=LEFT
// RUN: FileCheck %s --check-prefix=KEPT --input-file=%t.kept

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>
!x = tensor<?x7xf32, #dyn.shape<[M, 7]>>
!r = tensor<?xf32, #dyn.shape<[M]>>
!c = tensor<7xf32>

// LEFT: @softmax of a shifted tensor is left: it needs the fast-math flags `nnan`, `ninf`
// KEPT: arith.addf
// KEPT: graph.apply @softmax

// CHECK-LABEL: func.func @rows
// CHECK: %[[Y:.*]] = graph.apply @softmax(%x)
// CHECK-NEXT: return %[[Y]]
func.func @rows(%x: !x, %c: !r) -> !x {
  %0 = graph.compute ins(%x, %c : !x, !r) -> !x {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%e: f32, %s: f32):
    %r = arith.addf %e, %s : f32
    graph.yield %r : f32
  }
  %1 = graph.apply @softmax(%0) {axis = 1 : i64} : (!x) -> !x
  return %1 : !x
}

// The other way round, and again.
// CHECK-LABEL: func.func @twice
// CHECK: %[[Y:.*]] = graph.apply @log_softmax(%x)
// CHECK-NEXT: return %[[Y]]
func.func @twice(%x: !x, %c: !r) -> !x {
  %0 = graph.compute ins(%c, %x : !r, !x) -> !x {iterators = #graph.iterators<[parallel, parallel]>, maps = [#row, #id, #id]} {
  ^bb0(%s: f32, %e: f32):
    %r = arith.addf %s, %e : f32
    graph.yield %r : f32
  }
  %1 = graph.compute ins(%0 : !x) -> !x {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f32):
    %two = arith.constant 2.0 : f32
    %r = arith.subf %e, %two : f32
    graph.yield %r : f32
  }
  %2 = graph.apply @log_softmax(%1) : (!x) -> !x
  return %2 : !x
}

// CHECK-LABEL: func.func @norm
// CHECK: %[[Y:.*]] = graph.apply @layer_norm(%x, %s, %s)
// CHECK-NEXT: return %[[Y]]
func.func @norm(%x: !x, %c: !r, %s: !c) -> !x {
  %0 = graph.compute ins(%x, %c : !x, !r) -> !x {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%e: f32, %t: f32):
    %r = arith.subf %e, %t : f32
    graph.yield %r : f32
  }
  %1 = graph.apply @layer_norm(%0, %s, %s) {epsilon = 0.5 : f32} : (!x, !c, !c) -> !x
  return %1 : !x
}

// What varies along the axis, what the tensor is taken from, and what is multiplied stay.
// CHECK-LABEL: func.func @columns
// CHECK: arith.addf
// CHECK: graph.apply @softmax
func.func @columns(%x: !x, %c: !c) -> !x {
  %0 = graph.compute ins(%x, %c : !x, !c) -> !x {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #col, #id]} {
  ^bb0(%e: f32, %s: f32):
    %r = arith.addf %e, %s : f32
    graph.yield %r : f32
  }
  %1 = graph.apply @softmax(%0) : (!x) -> !x
  return %1 : !x
}
// CHECK-LABEL: func.func @first
// CHECK: arith.addf
// CHECK: graph.apply @softmax
func.func @first(%x: !x, %c: !r) -> !x {
  %0 = graph.compute ins(%x, %c : !x, !r) -> !x {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%e: f32, %s: f32):
    %r = arith.addf %e, %s : f32
    graph.yield %r : f32
  }
  %1 = graph.apply @softmax(%0) {axis = 0 : i64} : (!x) -> !x
  return %1 : !x
}
// CHECK-LABEL: func.func @reversed
// CHECK: arith.subf
// CHECK: graph.apply @softmax
func.func @reversed(%x: !x, %c: !r) -> !x {
  %0 = graph.compute ins(%x, %c : !x, !r) -> !x {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%e: f32, %s: f32):
    %r = arith.subf %s, %e : f32
    graph.yield %r : f32
  }
  %1 = graph.apply @softmax(%0) : (!x) -> !x
  return %1 : !x
}
// CHECK-LABEL: func.func @product
// CHECK: arith.mulf
// CHECK: graph.apply @softmax
func.func @product(%x: !x, %c: !r) -> !x {
  %0 = graph.compute ins(%x, %c : !x, !r) -> !x {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%e: f32, %s: f32):
    %r = arith.mulf %e, %s : f32
    graph.yield %r : f32
  }
  %1 = graph.apply @softmax(%0) : (!x) -> !x
  return %1 : !x
}
// Every result of what adds is used: it stays for the other one.
// CHECK-LABEL: func.func @used
// CHECK: %[[SUM:.*]] = graph.compute
// CHECK: %[[Y:.*]] = graph.apply @softmax(%x)
// CHECK: return %[[Y]], %[[SUM]]
func.func @used(%x: !x, %c: !r) -> (!x, !x) {
  %0 = graph.compute ins(%x, %c : !x, !r) -> !x {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%e: f32, %s: f32):
    %r = arith.addf %e, %s : f32
    graph.yield %r : f32
  }
  %1 = graph.apply @softmax(%0) : (!x) -> !x
  return %1, %0 : !x, !x
}
