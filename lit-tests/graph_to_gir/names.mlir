// RUN: sutura-opt %s --convert-graph-to-gir | FileCheck %s

!n = tensor<?xf32, #dyn.shape<[N]>>
!m = tensor<?xf32, #dyn.shape<[M]>>
!p = tensor<?xf32, #dyn.shape<[P]>>
!add = tensor<?xf32, #dyn.shape<[add]>>
!mul = tensor<?xf32, #dyn.shape<[mul]>>
#id = affine_map<(d0) -> (d0)>

// Regions that differ in the names of their sizes only share a kernel, which each launch gives its own sizes; what is known of
// a size must be the same.
// CHECK-LABEL: gir.kernel @names_row0(
// CHECK-SAME: dims(%M : [0, 2147483647])
// CHECK-LABEL: gir.kernel @names_row1(
// CHECK-SAME: dims(%P : [0, 64])
// CHECK-NOT: gir.kernel
// CHECK-LABEL: rt.program @names(
// CHECK: launch @names_row0(%arg0, %arg3) dims [M]
// CHECK: launch @names_row0(%arg1, %arg4) dims [N]
// CHECK: launch @names_row1(%arg2, %arg5) dims [P]
func.func @names(%x: !m, %y: !n, %z: !p) -> (!m, !n, !p) {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  %P = dyn.symbol "P" {range = [0, 64]} : index
  %a = graph.fusion(%x : !m) -> !m {
  ^bb0(%a: !m):
    %n = dyn.symbol "M" : index
    %0 = graph.compute ins(%a : !m) -> !m {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = arith.negf %p : f32
      graph.yield %v : f32
    }
    graph.yield %0 : !m
  }
  %b = graph.fusion(%y : !n) -> !n {
  ^bb0(%a: !n):
    %n = dyn.symbol "N" : index
    %0 = graph.compute ins(%a : !n) -> !n {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = arith.negf %p : f32
      graph.yield %v : f32
    }
    graph.yield %0 : !n
  }
  %c = graph.fusion(%z : !p) -> !p {
  ^bb0(%a: !p):
    %n = dyn.symbol "P" {range = [0, 64]} : index
    %0 = graph.compute ins(%a : !p) -> !p {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = arith.negf %p : f32
      graph.yield %v : f32
    }
    graph.yield %0 : !p
  }
  return %a, %b, %c : !m, !n, !p
}

// A size whose name is a word of the kernel is not that word.
// CHECK-LABEL: gir.kernel @words_row0(
// CHECK: gir.binary "add"
// CHECK-LABEL: gir.kernel @words_row1(
// CHECK: gir.binary "mul"
func.func @words(%x: !add, %y: !mul) -> (!add, !mul) {
  %A = dyn.symbol "add" : index
  %M = dyn.symbol "mul" : index
  %a = graph.fusion(%x : !add) -> !add {
  ^bb0(%a: !add):
    %n = dyn.symbol "add" : index
    %0 = graph.compute ins(%a : !add) -> !add {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = arith.addf %p, %p : f32
      graph.yield %v : f32
    }
    graph.yield %0 : !add
  }
  %b = graph.fusion(%y : !mul) -> !mul {
  ^bb0(%a: !mul):
    %n = dyn.symbol "mul" : index
    %0 = graph.compute ins(%a : !mul) -> !mul {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = arith.mulf %p, %p : f32
      graph.yield %v : f32
    }
    graph.yield %0 : !mul
  }
  return %a, %b : !add, !mul
}
