// RUN: sutura-opt %s --stitch --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: sutura-opt %s --stitch | FileCheck %s
// RUN: sutura-opt %s --stitch=planner=greedy | FileCheck %s
// RUN: sutura-opt %s --stitch --pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=STATS
// RUN: not sutura-opt %s --stitch=planner=best 2>&1 | FileCheck %s --check-prefix=UNKNOWN

!matrix = tensor<1024x1024xf32>
#id = affine_map<(d0, d1) -> (d0, d1)>

// UNKNOWN: planner
// STATS: (S) {{[0-9]+}} predicted-ns-before
// STATS: (S) {{[0-9]+}} predicted-ns-after

// The price of a plan, of each kernel, and of what is not one kernel: bytes are exact, 4 MB a matrix.
// REMARK: remark: plan of @chain: 1 region, 8388608 bytes, {{[0-9]+\.[0-9]+}} us predicted; op by op 16777216 bytes,
// REMARK: remark: a region of the family 'row' with 2 ops: 8388608 bytes, {{.*}} us (apart 16777216 bytes, {{.*}} us); one-to-one
// CHECK-LABEL: func.func @chain
// CHECK-COUNT-1: graph.fusion
// CHECK-NOT: graph.fusion
// CHECK: return
func.func @chain(%x: !matrix) -> !matrix {
  %a = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%p: f32):
    %v = math.exp %p : f32
    graph.yield %v : f32
  }
  %b = graph.compute ins(%a : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%p: f32):
    %v = arith.negf %p : f32
    graph.yield %v : f32
  }
  return %b : !matrix
}

// Ops that read the same tensor and nothing of each other are one kernel, which reads it once.
// REMARK: remark: plan of @siblings: 1 region, 12582912 bytes, {{.*}}; op by op 16777216 bytes,
// CHECK-LABEL: func.func @siblings
// CHECK: graph.fusion(%x : !matrix)
// CHECK-NOT: graph.fusion
// CHECK: return
func.func @siblings(%x: !matrix) -> (!matrix, !matrix) {
  %a = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%p: f32):
    %v = math.exp %p : f32
    graph.yield %v : f32
  }
  %b = graph.compute ins(%x : !matrix) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%p: f32):
    %v = arith.negf %p : f32
    graph.yield %v : f32
  }
  return %a, %b : !matrix, !matrix
}
