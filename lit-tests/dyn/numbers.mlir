// Sizes at the edge of 64 bits, and floors of floors, are written so that they are read back.

// RUN: sutura-opt %s | FileCheck %s
// RUN: sutura-opt %s | sutura-opt | FileCheck %s
// RUN: sutura-opt %s --mlir-print-op-generic | sutura-opt | FileCheck %s

// CHECK-LABEL: func.func @numbers
func.func @numbers() {
  // CHECK-NEXT: dyn.equal [-9223372036854775807*N - N], [-9223372036854775807 - 1]
  dyn.equal [-4611686018427387904 * N - 4611686018427387904 * N], [-9223372036854775807 - 1]
  // CHECK-NEXT: dyn.equal [4611686018427387904*N], [N floordiv 4611686018427387904]
  dyn.equal [N * 2 * 2 * 1152921504606846976], [N floordiv 2 floordiv 2305843009213693952]
  // CHECK-NEXT: dyn.equal [N floordiv 4], [(N + 6) floordiv 8]
  dyn.equal [(N floordiv 2) floordiv 2], [(N floordiv 2 + 3) floordiv 4]
  // CHECK-NEXT: dyn.equal [(N floordiv 4611686018427387904) floordiv 4], [2*N]
  dyn.equal [N floordiv 4611686018427387904 floordiv 2 floordiv 2], [(N*4) floordiv 2]
  // CHECK-NEXT: dyn.equal [min(A, min(B, C))], [min(A, B)]
  dyn.equal [min(min(C, A), B)], [min(min(A, B), min(B, A + 1))]
  // CHECK-NEXT: dyn.equal [N], [0]
  dyn.equal [N floordiv 1], [(N mod 4) floordiv 4]
  return
}
