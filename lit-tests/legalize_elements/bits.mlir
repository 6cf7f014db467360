// RUN: sutura-opt %s --legalize-elements --check-passes --strict | FileCheck %s

#one = affine_map<(d0) -> (d0)>

// The bits of a number that a function computes with are those of its own type, not of the f32 in its place.
// CHECK-LABEL: func.func @bits
// CHECK-NOT: f8
// CHECK: graph.compute
// CHECK-NOT: arith.bitcast %{{.*}} : f32 to i8
// CHECK: return
func.func @bits(%x: tensor<256xi8>) -> (tensor<256xi8>, tensor<256xi8>) {
  %y = graph.bitcast %x : tensor<256xi8> -> tensor<256xf8E5M2>
  %0, %1 = graph.compute ins(%y, %x : tensor<256xf8E5M2>, tensor<256xi8>) -> tensor<256xi8>, tensor<256xi8> {iterators = #graph.iterators<[parallel]>, maps = [#one, #one, #one, #one]} {
  ^bb0(%a: f8E5M2, %b: i8):
    %number = arith.cmpf oeq, %a, %a : f8E5M2
    %zero = arith.constant 0.0 : f8E5M2
    %c = arith.select %number, %a, %zero : f8E5M2
    %d = arith.bitcast %c : f8E5M2 to i8
    %e = arith.bitcast %b : i8 to f8E4M3FN
    %f = arith.bitcast %c : f8E5M2 to f8E4M3FN
    %less = arith.cmpf olt, %e, %f : f8E4M3FN
    %g = arith.extui %less : i1 to i8
    graph.yield %d, %g : i8, i8
  }
  return %0, %1 : tensor<256xi8>, tensor<256xi8>
}
