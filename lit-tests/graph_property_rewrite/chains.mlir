// RUN: sutura-opt %s --graph-property-rewrite=fast-math=fast | FileCheck %s
// RUN: sutura-opt %s --graph-property-rewrite=fast-math=fast --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: sutura-opt %s --graph-property-rewrite=fast-math=reassoc,nsz,afn --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=FEW
// RUN: sutura-opt %s --graph-property-rewrite -o %t.exact
// RUN: sutura-opt %s -o %t.same
// RUN: diff %t.exact %t.same

#id = affine_map<(d0) -> (d0)>
!t = tensor<?xf32, #dyn.shape<[N]>>

// CHECK-LABEL: func.func @inverse
// CHECK-NOT: math.
// CHECK: return
// REMARK: remark: log(exp(x)) = x
// FEW: remark: log(exp(x)) = x is left: it needs the fast-math flags `nnan`, `ninf`
func.func @inverse(%a: !t) -> !t {
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%a : !t) -> !t {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f32):
    %one = arith.constant 1.0 : f32
    %v = math.exp %e : f32
    %w = math.log %v : f32
    %x = arith.addf %w, %one : f32
    graph.yield %x : f32
  }
  return %y : !t
}

// A product of logarithms is none of the rules, a sum is.
// CHECK-LABEL: func.func @logarithms
// CHECK: %[[P:.*]] = arith.mulf
// CHECK: %[[L:.*]] = math.log %[[P]]
// CHECK-NOT: math.log
// CHECK: return
// REMARK: remark: log(a) + log(b) = log(a * b)
func.func @logarithms(%a: !t, %b: !t) -> !t {
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%a, %b : !t, !t) -> !t {iterators = #graph.iterators<[parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%e: f32, %f: f32):
    %v = math.log %e : f32
    %w = math.log %f : f32
    %x = arith.addf %v, %w : f32
    graph.yield %x : f32
  }
  return %y : !t
}

// A gate: what a sigmoid scales is divided once.
// CHECK-LABEL: func.func @gate
// CHECK: %[[S:.*]] = arith.addf
// CHECK: arith.divf %{{.*}}, %[[S]] : f32
// CHECK-NOT: arith.mulf
// CHECK: return
// REMARK: remark: x * (1 / y) = x / y
func.func @gate(%a: !t) -> !t {
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%a : !t) -> !t {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f32):
    %one = arith.constant 1.0 : f32
    %n = arith.negf %e : f32
    %v = math.exp %n : f32
    %w = arith.addf %one, %v : f32
    %g = arith.divf %one, %w : f32
    %x = arith.mulf %e, %g : f32
    graph.yield %x : f32
  }
  return %y : !t
}

// Linear chains of constants become one line.
// CHECK-LABEL: func.func @line
// CHECK: %[[P:.*]] = arith.mulf
// CHECK: arith.addf %[[P]]
// CHECK-NOT: arith.mulf
// CHECK: return
func.func @line(%a: !t) -> !t {
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%a : !t) -> !t {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f32):
    %c = arith.constant 1.5 : f32
    %d = arith.constant 0.75 : f32
    %f = arith.constant -2.0 : f32
    %v = arith.mulf %e, %c : f32
    %w = arith.addf %v, %d : f32
    %x = arith.mulf %w, %f : f32
    graph.yield %x : f32
  }
  return %y : !t
}
