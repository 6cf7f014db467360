// RUN: sutura-opt %s --legalize-elements --check-passes --strict | FileCheck %s
// RUN: sutura-opt %s --pass-pipeline='builtin.module(propagate-shapes,legalize-elements,func.func(stitch),convert-graph-to-gir,convert-gir-to-cpu)' --check-passes=2 --strict -o %t.mlir

#one = affine_map<(d0) -> (d0)>

// Every number of both formats, and back.
// CHECK-LABEL: func.func @decoded
// CHECK-NOT: {{f8|f4}}
// CHECK: return
func.func @decoded(%x: tensor<256xi8>) -> (tensor<256xf32>, tensor<256xf32>, tensor<256xf64>, tensor<256xi8>, tensor<256xi8>) {
  %p = graph.bitcast %x : tensor<256xi8> -> tensor<256xf8E8M0FNU>
  %f = graph.bitcast %x : tensor<256xi8> -> tensor<256xf4E2M1FN>
  %0, %1, %2, %3, %4 = graph.compute ins(%p, %f : tensor<256xf8E8M0FNU>, tensor<256xf4E2M1FN>) -> tensor<256xf32>, tensor<256xf32>, tensor<256xf64>, tensor<256xf8E8M0FNU>, tensor<256xf4E2M1FN> {iterators = #graph.iterators<[parallel]>, maps = [#one, #one, #one, #one, #one, #one, #one]} {
  ^bb0(%a: f8E8M0FNU, %b: f4E2M1FN):
    %c = arith.extf %a : f8E8M0FNU to f32
    %d = arith.extf %b : f4E2M1FN to f32
    %e = arith.extf %a : f8E8M0FNU to f64
    %g = arith.truncf %c : f32 to f8E8M0FNU
    %h = arith.truncf %d : f32 to f4E2M1FN
    graph.yield %c, %d, %e, %g, %h : f32, f32, f64, f8E8M0FNU, f4E2M1FN
  }
  %5 = graph.bitcast %3 : tensor<256xf8E8M0FNU> -> tensor<256xi8>
  %6 = graph.bitcast %4 : tensor<256xf4E2M1FN> -> tensor<256xi8>
  return %0, %1, %2, %5, %6 : tensor<256xf32>, tensor<256xf32>, tensor<256xf64>, tensor<256xi8>, tensor<256xi8>
}

// Bits of f32 around every power, in each way to round: exponent 8 bits, mantissa at the ends, in the middle and beside it.
// CHECK-LABEL: func.func @encoded
// CHECK-NOT: {{f8|f4}}
// CHECK: return
func.func @encoded() -> (tensor<512x8xi8>, tensor<512x8xi8>, tensor<512x8xi8>, tensor<512x8xi8>, tensor<512x8xi8>) {
  %m = graph.constant dense<[0, 1, 2097152, 4194303, 4194304, 4194305, 6291456, 8388607]> : tensor<8xi32>
  %0, %1, %2, %3, %4 = graph.compute ins(%m : tensor<8xi32>) -> tensor<512x8xf8E8M0FNU>, tensor<512x8xf8E8M0FNU>, tensor<512x8xf8E8M0FNU>, tensor<512x8xf8E8M0FNU>, tensor<512x8xf4E2M1FN> {iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]} {
  ^bb0(%a: i32):
    %i = graph.index 0 : index
    %e = arith.index_cast %i : index to i32
    %by = arith.constant 23 : i32
    %high = arith.shli %e, %by : i32
    %bits = arith.ori %high, %a : i32
    %f = arith.bitcast %bits : i32 to f32
    %n = arith.truncf %f : f32 to f8E8M0FNU
    %u = arith.truncf %f upward : f32 to f8E8M0FNU
    %d = arith.truncf %f downward : f32 to f8E8M0FNU
    %z = arith.truncf %f toward_zero : f32 to f8E8M0FNU
    %q = arith.truncf %f : f32 to f4E2M1FN
    graph.yield %n, %u, %d, %z, %q : f8E8M0FNU, f8E8M0FNU, f8E8M0FNU, f8E8M0FNU, f4E2M1FN
  }
  %5 = graph.bitcast %0 : tensor<512x8xf8E8M0FNU> -> tensor<512x8xi8>
  %6 = graph.bitcast %1 : tensor<512x8xf8E8M0FNU> -> tensor<512x8xi8>
  %7 = graph.bitcast %2 : tensor<512x8xf8E8M0FNU> -> tensor<512x8xi8>
  %8 = graph.bitcast %3 : tensor<512x8xf8E8M0FNU> -> tensor<512x8xi8>
  %9 = graph.bitcast %4 : tensor<512x8xf4E2M1FN> -> tensor<512x8xi8>
  return %5, %6, %7, %8, %9 : tensor<512x8xi8>, tensor<512x8xi8>, tensor<512x8xi8>, tensor<512x8xi8>, tensor<512x8xi8>
}

// Integers and f64 are rounded once: those beside the middle of two powers stay on their side of it.
// CHECK-LABEL: func.func @once
func.func @once() -> (tensor<6xi8>, tensor<6xi8>, tensor<4xi8>, tensor<6xi8>) {
  %l = graph.constant dense<[6917529027641081855, 6917529027641081856, 25165823, 0, -1, 9223372036854775807]> : tensor<6xi64>
  %s = graph.constant dense<[25165823, 25165824, 1610612735, 1610612736]> : tensor<4xi32>
  %d = graph.constant dense<[0x3FF7FFFFFFFFFFFF, 0x3FF8000000000000, 0x3FF8000000000001, 0x0000000000000001, 0x7FEFFFFFFFFFFFFF, 0x8000000000000001]> : tensor<6xf64>
  %0, %1, %3 = graph.compute ins(%l, %d : tensor<6xi64>, tensor<6xf64>) -> tensor<6xf8E8M0FNU>, tensor<6xf8E8M0FNU>, tensor<6xf8E8M0FNU> {iterators = #graph.iterators<[parallel]>, maps = [#one, #one, #one, #one, #one]} {
  ^bb0(%a: i64, %b: f64):
    %c = arith.sitofp %a : i64 to f8E8M0FNU
    %e = arith.uitofp %a : i64 to f8E8M0FNU
    %f = arith.truncf %b : f64 to f8E8M0FNU
    graph.yield %c, %e, %f : f8E8M0FNU, f8E8M0FNU, f8E8M0FNU
  }
  %2 = graph.compute ins(%s : tensor<4xi32>) -> tensor<4xf8E8M0FNU> {iterators = #graph.iterators<[parallel]>, maps = [#one, #one]} {
  ^bb0(%a: i32):
    %c = arith.sitofp %a : i32 to f8E8M0FNU
    graph.yield %c : f8E8M0FNU
  }
  %4 = graph.bitcast %0 : tensor<6xf8E8M0FNU> -> tensor<6xi8>
  %5 = graph.bitcast %1 : tensor<6xf8E8M0FNU> -> tensor<6xi8>
  %6 = graph.bitcast %2 : tensor<4xf8E8M0FNU> -> tensor<4xi8>
  %7 = graph.bitcast %3 : tensor<6xf8E8M0FNU> -> tensor<6xi8>
  return %4, %5, %6, %7 : tensor<6xi8>, tensor<6xi8>, tensor<4xi8>, tensor<6xi8>
}

// No power is less than zero: the negative of each is NaN.
// CHECK-LABEL: func.func @signs
// CHECK-NOT: {{f8|f4}}
// CHECK: return
func.func @signs(%x: tensor<256xi8>) -> (tensor<256xi8>, tensor<256xi8>, tensor<256xi8>) {
  %p = graph.bitcast %x : tensor<256xi8> -> tensor<256xf8E8M0FNU>
  %f = graph.bitcast %x : tensor<256xi8> -> tensor<256xf4E2M1FN>
  %0, %1, %2 = graph.compute ins(%p, %f : tensor<256xf8E8M0FNU>, tensor<256xf4E2M1FN>) -> tensor<256xf8E8M0FNU>, tensor<256xf4E2M1FN>, tensor<256xf8E8M0FNU> {iterators = #graph.iterators<[parallel]>, maps = [#one, #one, #one, #one, #one]} {
  ^bb0(%a: f8E8M0FNU, %b: f4E2M1FN):
    %c = arith.negf %a : f8E8M0FNU
    %d = arith.negf %b : f4E2M1FN
    %e = arith.extf %b : f4E2M1FN to f8E8M0FNU
    graph.yield %c, %d, %e : f8E8M0FNU, f4E2M1FN, f8E8M0FNU
  }
  %3 = graph.bitcast %0 : tensor<256xf8E8M0FNU> -> tensor<256xi8>
  %4 = graph.bitcast %1 : tensor<256xf4E2M1FN> -> tensor<256xi8>
  %5 = graph.bitcast %2 : tensor<256xf8E8M0FNU> -> tensor<256xi8>
  return %3, %4, %5 : tensor<256xi8>, tensor<256xi8>, tensor<256xi8>
}
