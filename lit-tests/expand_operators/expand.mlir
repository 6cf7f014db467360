// A declaration at a collapsed rank, applied at several ranks, element types and with several attributes. What it does is the
// same before it is expanded, when its body is run as it is written, and after.
// RUN: sutura-opt %s --expand-operators --check-passes -o %t.expanded
// RUN: FileCheck %s --input-file=%t.expanded
// RUN: sutura-opt %s | sutura-opt | FileCheck %s --check-prefix=TEXT

#oni = affine_map<(o, n, i) -> (o, n, i)>
#oi = affine_map<(o, n, i) -> (o, i)>
!oni = tensor<?x?x?xf16, #dyn.shape<[O, N, I]>>
!oi = tensor<?x?xf32, #dyn.shape<[O, I]>>

// TEXT: graph.operator @centre {accumulator = f32, attributes = {axis = -1 : i64, factor = 1.000000e+00 : f32}, broadcast = array<i64: 1>, elements = [f16, f32, f64, i32], groups = {I, O = "before axis"}, summary = "x - factor * mean"}
// CHECK-NOT: graph.operator
graph.operator @centre {
  summary = "x - factor * mean",
  elements = [f16, f32, f64, i32], accumulator = f32,
  attributes = {axis = -1 : i64, factor = 1.0 : f32},
  groups = {O = "before axis", I},
  broadcast = array<i64: 1>
} {
^bb0(%x: !oni, %shift: !oni):
  %sum = graph.compute ins(%x : !oni) -> !oi
      {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce, parallel]>, maps = [#oni, #oi]} {
  ^bb0(%e: f16):
    %wide = arith.extf %e : f16 to f32
    graph.yield %wide : f32
  }
  %y = graph.compute ins(%x, %sum, %shift : !oni, !oi, !oni) -> !oni
      {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#oni, #oi, #oni, #oni]} {
  ^bb0(%e: f16, %s: f32, %more: f16):
    %n = graph.size [N] : index
    %i = arith.index_cast %n : index to i64
    %count = arith.sitofp %i : i64 to f32
    // A mean of nothing is not asked for.
    %one = arith.constant 1.0 : f32
    %divisor = arith.maximumf %count, %one : f32
    %mean = arith.divf %s, %divisor : f32
    %factor = graph.param "factor" : f32
    %part = arith.mulf %factor, %mean : f32
    %wide = arith.extf %e : f16 to f32
    %rest = arith.subf %wide, %part : f32
    %narrow = arith.truncf %rest : f32 to f16
    %r = arith.addf %narrow, %more : f16
    graph.yield %r : f16
  }
  graph.yield %y : !oni
}

// The last dimension: no group behind it.
// CHECK-LABEL: func.func @rows
// CHECK: graph.compute ins(%x : tensor<?x3x4xf16, #dyn.shape<[B, 3, 4]>>) -> tensor<?x3xf32, #dyn.shape<[B, 3]>>
// CHECK-SAME: iterators = #graph.iterators<[parallel, parallel, reduce]>
// CHECK: arith.extf
// CHECK: %[[Y:.*]] = graph.compute ins(%x, %{{.*}}, %shift : {{.*}}, tensor<4xf16>)
// CHECK: arith.constant 4.000000e+00 : f32
// CHECK: arith.constant 1.000000e+00 : f32
// CHECK: return %[[Y]]
// TEXT-LABEL: func.func @rows
// TEXT: graph.apply @centre(%x, %shift) : (tensor<?x3x4xf16, #dyn.shape<[B, 3, 4]>>, tensor<4xf16>) -> tensor<?x3x4xf16, #dyn.shape<[B, 3, 4]>>
func.func @rows(%x: tensor<?x3x4xf16, #dyn.shape<[B, 3, 4]>>, %shift: tensor<4xf16>) -> tensor<?x3x4xf16, #dyn.shape<[B, 3, 4]>> {
  %y = graph.apply @centre(%x, %shift) : (tensor<?x3x4xf16, #dyn.shape<[B, 3, 4]>>, tensor<4xf16>) -> tensor<?x3x4xf16, #dyn.shape<[B, 3, 4]>>
  return %y : tensor<?x3x4xf16, #dyn.shape<[B, 3, 4]>>
}

// The first dimension, in f64, which is its own accumulator: conversions go.
// CHECK-LABEL: func.func @columns
// CHECK: graph.compute ins(%x : tensor<?x2x?xf64, #dyn.shape<[B, 2, S]>>) -> tensor<2x?xf64, #dyn.shape<[2, S]>>
// CHECK-SAME: iterators = #graph.iterators<[reduce, parallel, parallel]>
// CHECK-NOT: arith.extf
// CHECK: graph.size [B] : index
// CHECK: arith.constant 5.000000e-01 : f64
func.func @columns(%x: tensor<?x2x?xf64, #dyn.shape<[B, 2, S]>>, %shift: tensor<2x1xf64>) -> tensor<?x2x?xf64, #dyn.shape<[B, 2, S]>> {
  %y = graph.apply @centre(%x, %shift) {axis = 0 : i64, factor = 0.5 : f32} : (tensor<?x2x?xf64, #dyn.shape<[B, 2, S]>>, tensor<2x1xf64>) -> tensor<?x2x?xf64, #dyn.shape<[B, 2, S]>>
  return %y : tensor<?x2x?xf64, #dyn.shape<[B, 2, S]>>
}

// Integers: ops on floats are their namesakes.
// CHECK-LABEL: func.func @integers
// CHECK: arith.divsi
// CHECK: arith.muli
// CHECK: arith.subi
func.func @integers(%x: tensor<?x3xi32, #dyn.shape<[N, 3]>>, %shift: tensor<i32>) -> tensor<?x3xi32, #dyn.shape<[N, 3]>> {
  %y = graph.apply @centre(%x, %shift) {axis = -2 : i64} : (tensor<?x3xi32, #dyn.shape<[N, 3]>>, tensor<i32>) -> tensor<?x3xi32, #dyn.shape<[N, 3]>>
  return %y : tensor<?x3xi32, #dyn.shape<[N, 3]>>
}

// Sizes that differ in the types must be the same in a run.
// CHECK-LABEL: func.func @unequal
// CHECK: dyn.equal [B], [C] {source = "dimension 0 of the broadcast operands others and 'shift'"}
func.func @unequal(%x: tensor<?x3xf32, #dyn.shape<[B, 3]>>, %shift: tensor<?x3xf32, #dyn.shape<[C, 3]>>) -> tensor<?x3xf32, #dyn.shape<[B, 3]>> {
  %y = graph.apply @centre(%x, %shift) : (tensor<?x3xf32, #dyn.shape<[B, 3]>>, tensor<?x3xf32, #dyn.shape<[C, 3]>>) -> tensor<?x3xf32, #dyn.shape<[B, 3]>>
  return %y : tensor<?x3xf32, #dyn.shape<[B, 3]>>
}

// Nothing to compute.
// CHECK-LABEL: func.func @empty
func.func @empty(%x: tensor<0x3x2xf32>, %shift: tensor<3x2xf32>) -> tensor<0x3x2xf32> {
  %y = graph.apply @centre(%x, %shift) {axis = 0 : i64} : (tensor<0x3x2xf32>, tensor<3x2xf32>) -> tensor<0x3x2xf32>
  return %y : tensor<0x3x2xf32>
}
