// RUN: sutura-opt %s --expand-math | FileCheck %s
// RUN: sutura-opt %s --expand-math | sutura-opt --verify-roundtrip -o /dev/null
// RUN: sutura-opt %s --expand-math --pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=STATS

// STATS: (S) 2 num-expanded - functions expanded

// CHECK-LABEL: func.func @exp(
// CHECK-NOT: math.exp
// CHECK: math.fma
// CHECK: arith.shli
// CHECK: return
func.func @exp(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.exp %x : vector<16xf32>
  return %y : vector<16xf32>
}

// What machines have stays.
// CHECK-LABEL: func.func @native(
// CHECK-NEXT: math.sqrt
// CHECK-NEXT: math.floor
func.func @native(%x: f32) -> f32 {
  %y = math.sqrt %x : f32
  %z = math.floor %y : f32
  return %z : f32
}

// What stands in a region that is isolated is expanded too.
// CHECK-LABEL: func.func @nested(
// CHECK: graph.fusion
// CHECK-NOT: math.exp
// CHECK: return
func.func @nested(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.fusion(%x : tensor<4xf32>) -> tensor<4xf32> {kind = "row"} {
  ^bb0(%a: tensor<4xf32>):
    %0 = graph.compute ins(%a : tensor<4xf32>) -> tensor<4xf32> {iterators = ["parallel"], maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
    ^bb0(%p: f32):
      %v = math.exp %p : f32
      graph.yield %v : f32
    }
    graph.yield %0 : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// A function without any.
// CHECK-LABEL: func.func @empty(
// CHECK-NEXT: return
func.func @empty() {
  return
}
