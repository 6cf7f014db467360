// RUN: sutura-opt %s --stitch=max-ops=1 | FileCheck %s --check-prefix=ONE
// RUN: sutura-opt %s --stitch=max-ops=1 --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=WHY
// RUN: sutura-opt %s --stitch=max-ops=1 --pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=SAVED
// RUN: sutura-opt %s --stitch=max-ops=2 | FileCheck %s --check-prefix=TWO
// RUN: sutura-opt %s --stitch=max-ops=0 -o %t.0
// RUN: sutura-opt %s --stitch -o %t.default
// RUN: diff %t.0 %t.default
// RUN: not sutura-opt %s --stitch=max-ops=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not sutura-opt %s --stitch=most=1 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// NEGATIVE: max-ops
// UNKNOWN: most

// Each op is its own region, so nothing is saved.
// SAVED: (S) 3 num-regions
// SAVED: (S) 3 num-ops
// SAVED: (S) [[#BYTES:]] dram-bytes-before
// SAVED: (S) [[#BYTES]] dram-bytes-after

// WHY: remark: not stitched with %a: together they have 2 ops, above max-ops = 1
// WHY: remark: not stitched with %b: together they have 2 ops, above max-ops = 1

// ONE-COUNT-3: graph.fusion
// ONE-NOT: graph.fusion
// TWO-COUNT-2: graph.fusion
// TWO-NOT: graph.fusion
func.func @chain(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = graph.compute ins(%x : tensor<8xf32>) -> tensor<8xf32> {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
  ^bb0(%p: f32):
    %v = arith.negf %p : f32
    graph.yield %v : f32
  }
  %b = graph.compute ins(%a : tensor<8xf32>) -> tensor<8xf32> {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
  ^bb0(%p: f32):
    %v = math.absf %p : f32
    graph.yield %v : f32
  }
  %c = graph.compute ins(%b : tensor<8xf32>) -> tensor<8xf32> {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
  ^bb0(%p: f32):
    %v = math.sqrt %p : f32
    graph.yield %v : f32
  }
  return %c : tensor<8xf32>
}
