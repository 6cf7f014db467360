// Masks that show ranges of rows, and those that stay.

// RUN: sutura-opt %s --mask-ranges | FileCheck %s
// RUN: sutura-opt %s --mask-ranges --remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=SAID
// RUN: sutura-opt %s --mask-ranges --check-passes --strict -o /dev/null
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=sm_80},mask-ranges)' | FileCheck %s --check-prefix=DEVICE

// DEVICE-NOT: tensor<4xi32>

#id = affine_map<(h, q, k) -> (h, q, k)>
#mask = affine_map<(h, q, k) -> (q, k)>
#row = affine_map<(h, q, k) -> (h, q)>
#keys = affine_map<(h, q, k) -> (k)>

!x = tensor<2x4x6xf32>
!m = tensor<2x4xf32>

// A range of each row: the mask goes.
// CHECK-LABEL: func.func @window(
// CHECK-DAG: %[[FIRST:.*]] = graph.constant dense<[0, 0, 1, 2]> : tensor<4xi32>
// CHECK-DAG: %[[BEHIND:.*]] = graph.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
// CHECK: graph.compute ins(%{{.*}}, %[[FIRST]], %[[BEHIND]] : !x, tensor<4xi32>, tensor<4xi32>)
// CHECK: arith.cmpi sge
// CHECK: arith.cmpi slt
// CHECK: arith.andi
// SAID: a mask of 4 rows shows 29 % of 6, and the range of each row says all of it
func.func @window(%x: !x) -> !m {
  %mask = graph.constant dense<[[true, false, false, false, false, false], [true, true, false, false, false, false],
                                [false, true, true, false, false, false], [false, false, true, true, false, false]]> : tensor<4x6xi1>
  %l = graph.compute ins(%x, %mask : !x, tensor<4x6xi1>) -> !x {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id, #mask, #id]} {
  ^bb0(%e: f32, %m: i1):
    %least = arith.constant 0xFF800000 : f32
    %r = arith.select %m, %e, %least : f32
    graph.yield %r : f32
  }
  %y = graph.compute ins(%l : !x) -> !m {combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#id, #row]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  return %y : !m
}

// With a gap the mask stays beside the range. What it hides is true; it is the same for all queries.
// CHECK-LABEL: func.func @gap(
// CHECK: graph.constant dense<{{.*}}> : tensor<6xi1>
// CHECK: %[[BEHIND:.*]] = graph.constant dense<4> : tensor<i32>
// CHECK: graph.compute ins(%{{.*}}, %{{.*}}, %[[BEHIND]] : tensor<6xi1>, !x, tensor<i32>)
// CHECK-NOT: arith.cmpi sge
// CHECK: arith.cmpi slt
// SAID: a mask of 1 rows shows 66 % of 6, and the range of each row is looked at beside it
func.func @gap(%x: !x) -> !m {
  %mask = graph.constant dense<[false, true, false, false, true, true]> : tensor<6xi1>
  %l = graph.compute ins(%x, %mask : !x, tensor<6xi1>) -> !x {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id, #keys, #id]} {
  ^bb0(%e: f32, %m: i1):
    %least = arith.constant 0xFF800000 : f32
    %r = arith.select %m, %least, %e : f32
    graph.yield %r : f32
  }
  %y = graph.compute ins(%l : !x) -> !m {combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#id, #row]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  return %y : !m
}

// Indices are compared: what is chosen is computed in the body, and stays there.
// CHECK-LABEL: func.func @causal(
// CHECK: graph.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
// CHECK: arith.mulf
// CHECK-NOT: arith.cmpi sgt
// CHECK: return
// SAID: a mask of 4 rows shows 41 % of 6, and the range of each row says all of it
func.func @causal(%x: !x) -> !m {
  %l = graph.compute ins(%x : !x) -> !x {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f32):
    %half = arith.constant 0.5 : f32
    %s = arith.mulf %e, %half : f32
    %q = graph.index 1 : index
    %k = graph.index 2 : index
    %hidden = arith.cmpi sgt, %k, %q : index
    %least = arith.constant 0xFF800000 : f32
    %r = arith.select %hidden, %least, %s : f32
    graph.yield %r : f32
  }
  %y = graph.compute ins(%l : !x) -> !m {combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#id, #row]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  return %y : !m
}

// A condition of many steps is not looked at: each of these uses the one before twice.
// CHECK-LABEL: func.func @doubled(
// CHECK-NOT: xi32>
// SAID: a mask stays as it is: it takes more than 64 steps
func.func @doubled(%x: !x) -> !m {
  %l = graph.compute ins(%x : !x) -> !x {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f32):
    %k = graph.index 2 : index
    %a = arith.addi %k, %k : index
    %b = arith.addi %a, %a : index
    %c = arith.addi %b, %b : index
    %d = arith.addi %c, %c : index
    %f = arith.addi %d, %d : index
    %g = arith.addi %f, %f : index
    %q = graph.index 1 : index
    %hidden = arith.cmpi sgt, %g, %q : index
    %least = arith.constant 0xFF800000 : f32
    %r = arith.select %hidden, %least, %e : f32
    graph.yield %r : f32
  }
  %y = graph.compute ins(%l : !x) -> !m {combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#id, #row]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  return %y : !m
}

// A mask that is the same everywhere, and hides all: the end is before the first key.
// CHECK-LABEL: func.func @nothing(
// CHECK-DAG: graph.constant dense<6> : tensor<i32>
// CHECK-DAG: graph.constant dense<0> : tensor<i32>
// SAID: a mask of 1 rows shows 0 % of 6
func.func @nothing(%x: !x) -> !m {
  %mask = graph.constant dense<false> : tensor<4x6xi1>
  %l = graph.compute ins(%x, %mask : !x, tensor<4x6xi1>) -> !x {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id, #mask, #id]} {
  ^bb0(%e: f32, %m: i1):
    %least = arith.constant 0xFF800000 : f32
    %r = arith.select %m, %e, %least : f32
    graph.yield %r : f32
  }
  %y = graph.compute ins(%l : !x) -> !m {combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#id, #row]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  return %y : !m
}

// Five of six are shown; a mask that is not known; one that hides by another number than -inf, which says nothing.
// CHECK-LABEL: func.func @kept(
// CHECK-NOT: tensor<4xi32>
// SAID: a mask stays as it is: it shows more than four fifths of what there is
// SAID: a mask stays as it is: it is not known when the model is compiled
// SAID-NOT: mask
func.func @kept(%x: !x, %given: tensor<6xi1>) -> (!m, !m, !m) {
  %mask = graph.constant dense<[true, true, true, true, true, false]> : tensor<6xi1>
  %l = graph.compute ins(%x, %mask : !x, tensor<6xi1>) -> !x {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id, #keys, #id]} {
  ^bb0(%e: f32, %m: i1):
    %least = arith.constant 0xFF800000 : f32
    %r = arith.select %m, %e, %least : f32
    graph.yield %r : f32
  }
  %a = graph.compute ins(%l : !x) -> !m {combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#id, #row]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  %n = graph.compute ins(%x, %given : !x, tensor<6xi1>) -> !x {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id, #keys, #id]} {
  ^bb0(%e: f32, %m: i1):
    %least = arith.constant 0xFF800000 : f32
    %r = arith.select %m, %e, %least : f32
    graph.yield %r : f32
  }
  %b = graph.compute ins(%n : !x) -> !m {combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#id, #row]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  %o = graph.compute ins(%x, %mask : !x, tensor<6xi1>) -> !x {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id, #keys, #id]} {
  ^bb0(%e: f32, %m: i1):
    %less = arith.constant -1.0e+4 : f32
    %r = arith.select %m, %less, %e : f32
    graph.yield %r : f32
  }
  %c = graph.compute ins(%o : !x) -> !m {combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#id, #row]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  return %a, %b, %c : !m, !m, !m
}
