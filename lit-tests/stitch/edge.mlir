// RUN: sutura-opt %s --stitch | FileCheck %s
// RUN: sutura-opt %s --stitch --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: sutura-opt %s --stitch | sutura-opt --stitch --pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=AGAIN
// RUN: sutura-opt %s --stitch | sutura-opt --stitch -o %t.twice
// RUN: sutura-opt %s --stitch -o %t.once
// RUN: diff %t.once %t.twice

// AGAIN: (S) 0 num-regions
// AGAIN: (S) 0 num-ops

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func private @declared
func.func private @declared(tensor<4xf32>)
func.func private @source() -> tensor<4xf32>

// CHECK-LABEL: func.func @empty
// CHECK-NEXT: return
func.func @empty() {
  return
}

// Constants and reshapes are no kernels.
// CHECK-LABEL: func.func @constants
// CHECK-NEXT: graph.constant
// CHECK-NEXT: graph.reshape
// CHECK-NEXT: return
func.func @constants() -> tensor<4xf32> {
  %c = graph.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %r = graph.reshape %c : tensor<2x2xf32> -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// What nobody reads goes; nothing is left of the function.
// CHECK-LABEL: func.func @dead
// CHECK-NEXT: return
func.func @dead(%x: tensor<4xf32>) {
  %y = graph.compute ins(%x : tensor<4xf32>) -> tensor<4xf32> {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %v = arith.negf %a : f32
    graph.yield %v : f32
  }
  return
}

// Calls keep their order, so what is made for the first cannot be in the region that needs the second.
// CHECK-LABEL: func.func @effects
// CHECK: %[[Y:.*]] = graph.fusion
// CHECK: call @declared(%[[Y]])
// CHECK: %[[B:.*]] = call @source()
// CHECK: graph.fusion(%[[Y]], %[[B]] :
// CHECK-SAME: reasons = ["%y: %b stands between (apart
func.func @effects(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.compute ins(%x : tensor<4xf32>) -> tensor<4xf32> {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %v = arith.negf %a : f32
    graph.yield %v : f32
  }
  // REMARK: edge.mlir:[[#@LINE+1]]:3: remark: 'func.call' is no op that a kernel computes; it stays outside regions
  call @declared(%y) : (tensor<4xf32>) -> ()
  // REMARK: edge.mlir:[[#@LINE+1]]:8: remark: 'func.call' is no op that a kernel computes; it stays outside regions
  %b = call @source() : () -> tensor<4xf32>
  %z = graph.compute ins(%y, %b : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {iterators = #graph.iterators<[parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%a: f32, %c: f32):
    %v = arith.addf %a, %c : f32
    graph.yield %v : f32
  }
  return %z : tensor<4xf32>
}

// What an op reads from within is made before it and used outside.
// CHECK-LABEL: func.func @captured
// CHECK: %[[Y:.*]] = graph.fusion(%x :
// CHECK: scf.if
// CHECK: tensor.extract %[[Y]]
func.func @captured(%x: tensor<4xf32>, %c: i1) -> f32 {
  %y = graph.compute ins(%x : tensor<4xf32>) -> tensor<4xf32> {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %v = arith.negf %a : f32
    graph.yield %v : f32
  }
  %i = arith.constant 0 : index
  // REMARK: edge.mlir:[[#@LINE+1]]:8: remark: 'scf.if' is no op that a kernel computes; it stays outside regions
  %r = scf.if %c -> (f32) {
    %e = tensor.extract %y[%i] : tensor<4xf32>
    scf.yield %e : f32
  } else {
    %z = arith.constant 0.0 : f32
    scf.yield %z : f32
  }
  return %r : f32
}

// Results that are returned twice are made once; an op with a foreign neighbour is stitched.
// CHECK-LABEL: func.func @twice
// CHECK: %[[Y:.*]] = graph.fusion
// CHECK: return %[[Y]], %[[Y]]
func.func @twice(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y = graph.compute ins(%x, %x : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {iterators = #graph.iterators<[parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  return %y, %y : tensor<4xf32>, tensor<4xf32>
}

// More elements than any machine has: traffic is counted as far as numbers go.
// CHECK-LABEL: func.func @huge
// CHECK: graph.fusion
func.func @huge(%x: tensor<4611686018427387904xf32>, %y: tensor<4611686018427387904xf32>) -> tensor<4611686018427387904xf32> {
  %z = graph.compute ins(%x, %y : tensor<4611686018427387904xf32>, tensor<4611686018427387904xf32>) -> tensor<4611686018427387904xf32> {iterators = #graph.iterators<[parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %b : f32
    graph.yield %v : f32
  }
  return %z : tensor<4611686018427387904xf32>
}
