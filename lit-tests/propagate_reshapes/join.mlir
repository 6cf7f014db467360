// Ops on both sides of a reshape run through the same dimensions afterwards, and become one kernel.

// RUN: sutura-opt %s --propagate-reshapes | FileCheck %s
// RUN: sutura-opt %s --stitch | FileCheck %s --check-prefix=APART
// RUN: sutura-opt %s --propagate-reshapes --stitch | FileCheck %s --check-prefix=PLAN
// RUN: sutura-opt %s --propagate-reshapes --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: sutura-opt %s --propagate-reshapes -o %t.once
// RUN: sutura-opt %t.once --propagate-reshapes -o %t.twice
// RUN: diff %t.once %t.twice
// RUN: sutura-opt %s --propagate-reshapes --stitch --convert-graph-to-gir --convert-gir-to-cpu --check-passes=2 --strict -o /dev/null

#line = affine_map<(d0) -> (d0)>
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#first3 = affine_map<(d0, d1, d2) -> (d0, d1)>
#last3 = affine_map<(d0, d1, d2) -> (d2)>
#id4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#channel = affine_map<(d0, d1, d2, d3) -> (d1)>
#heads = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>
#deep = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d4, d5)>
#blocks = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d3, d5, d1, d2, d4)>

// A bias before heads are split off and turned.
// REMARK: remark: {{.*}}%h is read as %y is made, along (B, S, 12, 64): 393216 bytes at likely sizes need not be written and read between them
// CHECK-LABEL: func.func @heads(
// CHECK: %[[X:.*]] = graph.reshape %x : {{.*}} -> tensor<?x?x12x64xf32
// CHECK: %[[BIAS:.*]] = graph.reshape %bias : tensor<768xf32> -> tensor<12x64xf32>
// CHECK: %y = graph.compute ins(%[[X]], %[[BIAS]] :
// CHECK-SAME: iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>
// CHECK-NOT: graph.reshape
// CHECK: graph.compute ins(%y :
// CHECK-NOT: graph.reshape
// CHECK: return
// APART-LABEL: func.func @heads(
// APART-COUNT-2: graph.fusion
// APART: return
// PLAN-LABEL: func.func @heads(
// PLAN-COUNT-1: graph.fusion
// PLAN-NOT: graph.fusion
// PLAN: return
func.func @heads(%x: tensor<?x?x768xf32, #dyn.shape<[B, S, 768]>>, %bias: tensor<768xf32>)
    -> tensor<?x12x?x64xf32, #dyn.shape<[B, 12, S, 64]>> {
  %B = dyn.symbol "B" {range = [0, 8], likely = [1]} : index
  %S = dyn.symbol "S" {range = [0, 512], likely = [128, 1, 31]} : index
  %y = graph.compute ins(%x, %bias : tensor<?x?x768xf32, #dyn.shape<[B, S, 768]>>, tensor<768xf32>)
      -> tensor<?x?x768xf32, #dyn.shape<[B, S, 768]>> {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id3, #last3, #id3]} {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    graph.yield %0 : f32
  }
  %h = graph.reshape %y : tensor<?x?x768xf32, #dyn.shape<[B, S, 768]>> -> tensor<?x?x12x64xf32, #dyn.shape<[B, S, 12, 64]>>
  %t = graph.compute ins(%h : tensor<?x?x12x64xf32, #dyn.shape<[B, S, 12, 64]>>) -> tensor<?x12x?x64xf32, #dyn.shape<[B, 12, S, 64]>>
      {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#heads, #id4]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  return %t : tensor<?x12x?x64xf32, #dyn.shape<[B, 12, S, 64]>>
}

// Group normalisation as ONNX has it, reshaped and back, with scale and shift per channel and SiLU: one kernel.
// CHECK-LABEL: func.func @group_norm(
// CHECK: graph.reshape %x : {{.*}} -> tensor<?x8x4x?x?xf32, #dyn.shape<[N, 8, 4, H, W]>>
// CHECK: graph.compute
// CHECK-SAME: iterators = #graph.iterators<[parallel, parallel, reduce, reduce, reduce]>
// CHECK: graph.reshape %scale : tensor<32xf32> -> tensor<8x4xf32>
// CHECK: %[[Y:.*]] = graph.reshape %silu :
// CHECK: return %[[Y]]
// APART-LABEL: func.func @group_norm(
// APART-COUNT-2: graph.fusion
// APART: return
// PLAN-LABEL: func.func @group_norm(
// PLAN-COUNT-1: graph.fusion
// PLAN-NOT: graph.fusion
// PLAN: return
func.func @group_norm(%x: tensor<?x32x?x?xf32, #dyn.shape<[N, 32, H, W]>>, %scale: tensor<32xf32>, %shift: tensor<32xf32>)
    -> tensor<?x32x?x?xf32, #dyn.shape<[N, 32, H, W]>> {
  %N = dyn.symbol "N" {range = [0, 8], likely = [1]} : index
  %H = dyn.symbol "H" {range = [0, 64], likely = [1, 8, 3]} : index
  %W = dyn.symbol "W" {range = [0, 64], likely = [8, 1, 5]} : index
  %r = graph.reshape %x : tensor<?x32x?x?xf32, #dyn.shape<[N, 32, H, W]>> -> tensor<?x8x?xf32, #dyn.shape<[N, 8, 4*H*W]>>
  %sum = graph.compute ins(%r : tensor<?x8x?xf32, #dyn.shape<[N, 8, 4*H*W]>>) -> tensor<?x8xf32, #dyn.shape<[N, 8]>>
      {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id3, #first3]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %squares = graph.compute ins(%r : tensor<?x8x?xf32, #dyn.shape<[N, 8, 4*H*W]>>) -> tensor<?x8xf32, #dyn.shape<[N, 8]>>
      {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id3, #first3]} {
  ^bb0(%a: f32):
    %0 = arith.mulf %a, %a : f32
    graph.yield %0 : f32
  }
  %n = graph.compute ins(%r, %sum, %squares : tensor<?x8x?xf32, #dyn.shape<[N, 8, 4*H*W]>>, tensor<?x8xf32, #dyn.shape<[N, 8]>>, tensor<?x8xf32, #dyn.shape<[N, 8]>>)
      -> tensor<?x8x?xf32, #dyn.shape<[N, 8, 4*H*W]>> {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id3, #first3, #first3, #id3]} {
  ^bb0(%a: f32, %s: f32, %q: f32):
    %one = arith.constant 1.0 : f32
    %0 = arith.subf %a, %s : f32
    %1 = arith.addf %q, %one : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %0, %2 : f32
    graph.yield %3 : f32
  }
  %back = graph.reshape %n : tensor<?x8x?xf32, #dyn.shape<[N, 8, 4*H*W]>> -> tensor<?x32x?x?xf32, #dyn.shape<[N, 32, H, W]>>
  %y = graph.compute ins(%back, %scale, %shift : tensor<?x32x?x?xf32, #dyn.shape<[N, 32, H, W]>>, tensor<32xf32>, tensor<32xf32>)
      -> tensor<?x32x?x?xf32, #dyn.shape<[N, 32, H, W]>> {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id4, #channel, #channel, #id4]} {
  ^bb0(%a: f32, %g: f32, %b: f32):
    %0 = arith.mulf %a, %g : f32
    %1 = arith.addf %0, %b : f32
    graph.yield %1 : f32
  }
  %silu = graph.compute ins(%y : tensor<?x32x?x?xf32, #dyn.shape<[N, 32, H, W]>>) -> tensor<?x32x?x?xf32, #dyn.shape<[N, 32, H, W]>>
      {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id4, #id4]} {
  ^bb0(%a: f32):
    %one = arith.constant 1.0 : f32
    %0 = arith.negf %a : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.divf %a, %2 : f32
    graph.yield %3 : f32
  }
  return %silu : tensor<?x32x?x?xf32, #dyn.shape<[N, 32, H, W]>>
}

// Depth to space between two elementwise ops.
// CHECK-LABEL: func.func @depth_to_space(
// CHECK: %relu = graph.compute ins(%{{.*}} : tensor<?x2x2x8x?x?xf32
// CHECK: %turned = graph.compute ins(%relu : {{.*}} -> tensor<?x8x?x2x?x2xf32
// CHECK: %sum = graph.compute ins(%turned, %{{.*}} -> tensor<?x8x?x2x?x2xf32
// CHECK: %[[Y:.*]] = graph.reshape %sum : {{.*}} -> tensor<?x8x?x?xf32, #dyn.shape<[N, 8, 2*H, 2*W]>>
// CHECK: return %[[Y]]
// APART-LABEL: func.func @depth_to_space(
// APART-COUNT-3: graph.fusion
// APART: return
// PLAN-LABEL: func.func @depth_to_space(
// PLAN-COUNT-1: graph.fusion
// PLAN-NOT: graph.fusion
// PLAN: return
func.func @depth_to_space(%x: tensor<?x32x?x?xf32, #dyn.shape<[N, 32, H, W]>>, %z: tensor<?x8x?x?xf32, #dyn.shape<[N, 8, 2*H, 2*W]>>)
    -> tensor<?x8x?x?xf32, #dyn.shape<[N, 8, 2*H, 2*W]>> {
  %N = dyn.symbol "N" {range = [0, 8], likely = [1]} : index
  %H = dyn.symbol "H" {range = [0, 64], likely = [8, 1, 3]} : index
  %W = dyn.symbol "W" {range = [0, 64], likely = [8, 1, 5]} : index
  %relu = graph.compute ins(%x : tensor<?x32x?x?xf32, #dyn.shape<[N, 32, H, W]>>) -> tensor<?x32x?x?xf32, #dyn.shape<[N, 32, H, W]>>
      {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id4, #id4]} {
  ^bb0(%a: f32):
    %zero = arith.constant 0.0 : f32
    %0 = arith.maximumf %a, %zero : f32
    graph.yield %0 : f32
  }
  %parts = graph.reshape %relu : tensor<?x32x?x?xf32, #dyn.shape<[N, 32, H, W]>> -> tensor<?x2x2x8x?x?xf32, #dyn.shape<[N, 2, 2, 8, H, W]>>
  %turned = graph.compute ins(%parts : tensor<?x2x2x8x?x?xf32, #dyn.shape<[N, 2, 2, 8, H, W]>>)
      -> tensor<?x8x?x2x?x2xf32, #dyn.shape<[N, 8, H, 2, W, 2]>>
      {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel, parallel]>, maps = [#blocks, #deep]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %d = graph.reshape %turned : tensor<?x8x?x2x?x2xf32, #dyn.shape<[N, 8, H, 2, W, 2]>> -> tensor<?x8x?x?xf32, #dyn.shape<[N, 8, 2*H, 2*W]>>
  %sum = graph.compute ins(%d, %z : tensor<?x8x?x?xf32, #dyn.shape<[N, 8, 2*H, 2*W]>>, tensor<?x8x?x?xf32, #dyn.shape<[N, 8, 2*H, 2*W]>>)
      -> tensor<?x8x?x?xf32, #dyn.shape<[N, 8, 2*H, 2*W]>>
      {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id4, #id4, #id4]} {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    graph.yield %0 : f32
  }
  return %sum : tensor<?x8x?x?xf32, #dyn.shape<[N, 8, 2*H, 2*W]>>
}
