// RUN: sutura-opt %s --propagate-shapes --split-input-file | FileCheck %s
// RUN: sutura-opt %s --propagate-shapes --split-input-file | sutura-opt --propagate-shapes --split-input-file | FileCheck %s

// A shape that the program computes: split the last dimension into heads.
// CHECK-LABEL: func.func @heads
// CHECK-SAME: (%x: tensor<?x?x256xf32, #dyn.shape<[batch, seq, 256]>>) -> tensor<?x?x4x64xf32, #dyn.shape<[batch, seq, 4, 64]>>
func.func @heads(%x: tensor<?x?x256xf32, #dyn.shape<[batch, seq, 256]>>) -> tensor<?x?x?x?xf32> {
  // CHECK-NEXT: %batch = dyn.symbol "batch" : index
  // CHECK-NEXT: %seq = dyn.symbol "seq" : index
  %s = graph.shape_of %x : tensor<?x?x256xf32, #dyn.shape<[batch, seq, 256]>> -> tensor<3xi64>
  %i = graph.constant dense<[0, 1]> : tensor<2xi64>
  %outer = graph.gather %s, %i {axis = 0} : tensor<3xi64>, tensor<2xi64> -> tensor<2xi64>
  %heads = graph.constant dense<[4, -1]> : tensor<2xi64>
  %shape = graph.concat %outer, %heads {axis = 0} : tensor<2xi64>, tensor<2xi64> -> tensor<4xi64>
  // CHECK-NEXT: %[[Y:.*]] = graph.reshape %x : tensor<?x?x256xf32, #dyn.shape<[batch, seq, 256]>> -> tensor<?x?x4x64xf32, #dyn.shape<[batch, seq, 4, 64]>>
  // CHECK-NEXT: return %[[Y]]
  %y = graph.reshape %x, %shape : tensor<?x?x256xf32, #dyn.shape<[batch, seq, 256]>>, tensor<4xi64> -> tensor<?x?x?x?xf32>
  return %y : tensor<?x?x?x?xf32>
}

// -----

// Knowledge goes backward: what must be equal gets one name, and a known size is known everywhere.
// CHECK-LABEL: func.func @backward
// CHECK-SAME: (%a: tensor<?x8xf32, #dyn.shape<[a_0, 8]>>, %b: tensor<?x8xf32, #dyn.shape<[a_0, 8]>>)
func.func @backward(%a: tensor<?x?xf32>, %b: tensor<?x8xf32>) -> tensor<?x?xf32> {
  // CHECK-NEXT: dyn.symbol "a_0" : index
  // CHECK-NOT: dyn.symbol
  // CHECK-NOT: dyn.equal
  %y = graph.compute ins(%a, %b : tensor<?x?xf32>, tensor<?x8xf32>) -> tensor<?x?xf32> {
    iterators = #graph.iterators<[parallel, parallel]>,
    maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
  } {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    graph.yield %0 : f32
  }
  return %y : tensor<?x?xf32>
}

// -----

// Names of the model stay, and their equality is checked at run time.
// CHECK-LABEL: func.func @names
// CHECK-SAME: (%a: tensor<?xf32, #dyn.shape<[query]>>, %b: tensor<?xf32, #dyn.shape<[key]>>) -> tensor<?xf32, #dyn.shape<[query]>>
func.func @names(%a: tensor<?xf32, #dyn.shape<[query]>>, %b: tensor<?xf32, #dyn.shape<[key]>>) -> tensor<?xf32> {
  // CHECK: dyn.equal [query], [key] {source = "/attention/Add: dimension 0 of input 0 and dimension 0 of input 1"}
  %y = graph.compute ins(%a, %b : tensor<?xf32, #dyn.shape<[query]>>, tensor<?xf32, #dyn.shape<[key]>>) -> tensor<?xf32> {
    iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
  } {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    graph.yield %0 : f32
  } loc("/attention/Add")
  return %y : tensor<?xf32>
}

// -----

// A table cut to the length of the sequence bounds that, and the slice becomes a structured op.
// CHECK-LABEL: func.func @positions
func.func @positions(%x: tensor<?xf32, #dyn.shape<[seq]>>, %table: tensor<512xf32>) -> tensor<?xf32> {
  // CHECK-NEXT: dyn.symbol "seq" {range = [0, 512]} : index
  // CHECK-NOT: dyn.symbol
  // CHECK-NOT: graph.slice
  // CHECK: graph.compute ins(%table : tensor<512xf32>) -> tensor<?xf32, #dyn.shape<[seq]>>
  // CHECK-SAME: oob = [0.0
  %ends = graph.shape_of %x : tensor<?xf32, #dyn.shape<[seq]>> -> tensor<1xi64>
  %starts = graph.constant dense<0> : tensor<1xi64>
  %cut = graph.slice %table[%starts, %ends] {axes = array<i64: 0>, steps = array<i64: 1>} : tensor<512xf32>, tensor<1xi64>, tensor<1xi64> -> tensor<?xf32>
  %y = graph.compute ins(%x, %cut : tensor<?xf32, #dyn.shape<[seq]>>, tensor<?xf32>) -> tensor<?xf32> {
    iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
  } {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    graph.yield %0 : f32
  }
  return %y : tensor<?xf32>
}

// -----

// A function that is called gets its sizes before those that call it (calls.mlir has more).
// CHECK-LABEL: func.func private @callee
// CHECK-SAME: (%x: tensor<?xf32, #dyn.shape<[x_0]>>) -> tensor<?xf32, #dyn.shape<[x_0]>>
func.func private @callee(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

// CHECK-LABEL: func.func @caller
// CHECK-SAME: (%x: tensor<?xf32, #dyn.shape<[x_0]>>) -> tensor<?xf32, #dyn.shape<[x_0]>>
func.func @caller(%x: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: call @callee(%x)
  %y = call @callee(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// Only tensors have shapes to propagate: memory stays as it is.
// CHECK-LABEL: func.func @memory(%n: index, %m: memref<?xf32>, %v: vector<4xf32>, %x: f32)
// CHECK-NEXT: memref.store %x, %m[%n] : memref<?xf32>
// CHECK-NEXT: return
func.func @memory(%n: index, %m: memref<?xf32>, %v: vector<4xf32>, %x: f32) {
  memref.store %x, %m[%n] : memref<?xf32>
  return
}

// -----

// A type that says a known size in more words is left: what it must be equal to says it so too.
// CHECK-LABEL: func.func @words(
// CHECK: %[[Y:.*]] = call @part(%x, %e) : (tensor<?xf32, #dyn.shape<[x_0]>>, tensor<1xi64, #dyn.shape<[1]>>)
// CHECK-LABEL: func.func private @part(
// CHECK: graph.constant dense<0> : tensor<1xi64, #dyn.shape<[1]>>
func.func @words(%x: tensor<?xf32, #dyn.shape<[?]>>, %e: tensor<1xi64, #dyn.shape<[1]>>) -> tensor<?xf32, #dyn.shape<[?]>> {
  %y = call @part(%x, %e) : (tensor<?xf32, #dyn.shape<[?]>>, tensor<1xi64, #dyn.shape<[1]>>) -> tensor<?xf32, #dyn.shape<[?]>>
  return %y : tensor<?xf32, #dyn.shape<[?]>>
}
func.func private @part(%x: tensor<?xf32, #dyn.shape<[?]>>, %e: tensor<1xi64, #dyn.shape<[1]>>) -> tensor<?xf32, #dyn.shape<[?]>> {
  %s = graph.constant dense<0> : tensor<1xi64, #dyn.shape<[1]>>
  %y = graph.slice %x[%s, %e] {axes = array<i64: 0>, steps = array<i64: 1>} : tensor<?xf32, #dyn.shape<[?]>>, tensor<1xi64, #dyn.shape<[1]>>, tensor<1xi64, #dyn.shape<[1]>> -> tensor<?xf32, #dyn.shape<[?]>>
  return %y : tensor<?xf32, #dyn.shape<[?]>>
}
