// RUN: sutura-opt %s --outline-regions --check-passes --split-input-file | FileCheck %s
// RUN: sutura-opt %s --outline-regions --inline --check-passes --split-input-file | FileCheck %s --check-prefix=INLINED
// RUN: sutura-opt %s --outline-regions --split-input-file | sutura-opt --outline-regions --split-input-file | FileCheck %s

// Each side is a function; what it uses from around is passed, a constant is copied, and a value that is handed on as it is
// does not go through it. The symbols of what is passed keep what is known of them.
// CHECK-LABEL: func.func @sides
// CHECK: scf.if %{{.*}} -> (tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>) {
// CHECK-NEXT: %[[Y:.*]] = func.call @sides_then(%x, %y) : (tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>>
// CHECK-NEXT: scf.yield %[[Y]], %y :
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %x, %y :
// CHECK: func.func private @sides_then(%{{.*}}: tensor<?xf32, #dyn.shape<[N]>>, %{{.*}}: tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
// CHECK-NEXT: dyn.symbol "N" {div = 8 : i64} : index
// CHECK-NEXT: graph.constant
// CHECK-NEXT: graph.compute
// CHECK: return
// INLINED-LABEL: func.func @sides
// INLINED-NOT: call
// INLINED: scf.if
// INLINED: graph.compute
// INLINED: return
// INLINED-NOT: func.func
func.func @sides(%f: tensor<i1>, %x: tensor<?xf32, #dyn.shape<[N]>>, %y: tensor<?xf32, #dyn.shape<[N]>>) -> (tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>) {
  %N = dyn.symbol "N" {div = 8} : index
  %two = graph.constant dense<2.0> : tensor<f32>
  %c = tensor.extract %f[] : tensor<i1>
  %r:2 = scf.if %c -> (tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>) {
    %z = graph.compute ins(%x, %y, %two : tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>, tensor<f32>) -> tensor<?xf32, #dyn.shape<[N]>> {
      iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>]
    } {
    ^bb0(%p: f32, %q: f32, %t: f32):
      %0 = arith.mulf %p, %t : f32
      %1 = arith.addf %0, %q : f32
      graph.yield %1 : f32
    }
    scf.yield %z, %y : tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>
  } else {
    scf.yield %x, %y : tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>
  }
  return %r#0, %r#1 : tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>
}

// -----

// A condition in a loop becomes a function that a function calls.
// CHECK-LABEL: func.func @loop
// CHECK: scf.while
// CHECK-NEXT: %[[C:.*]] = func.call @loop_before(
// CHECK-NEXT: %[[E:.*]] = tensor.extract %[[C]][] : tensor<i1>
// CHECK-NEXT: scf.condition(%[[E]])
// CHECK: func.call @loop_after(
// CHECK: func.func private @loop_before
// CHECK: func.func private @loop_after
// CHECK: scf.if
// CHECK: func.call @loop_then1(
// CHECK: func.func private @loop_then1
// INLINED-LABEL: func.func @loop
// INLINED-NOT: call
// INLINED-NOT: func.func
func.func @loop(%n: tensor<i64>, %f: tensor<i1>) -> tensor<i64> {
  %zero = graph.constant dense<0> : tensor<i64>
  %r = scf.while (%i = %zero) : (tensor<i64>) -> tensor<i64> {
    %less = graph.compute ins(%i, %n : tensor<i64>, tensor<i64>) -> tensor<i1> {iterators = #graph.iterators<[]>, maps = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>]} {
    ^bb0(%a: i64, %b: i64):
      %five = arith.constant 5 : i64
      %m = arith.minsi %b, %five : i64
      %0 = arith.cmpi slt, %a, %m : i64
      graph.yield %0 : i1
    }
    %c = tensor.extract %less[] : tensor<i1>
    scf.condition(%c) %i : tensor<i64>
  } do {
  ^bb0(%i: tensor<i64>):
    %next = graph.compute ins(%i : tensor<i64>) -> tensor<i64> {iterators = #graph.iterators<[]>, maps = [affine_map<() -> ()>, affine_map<() -> ()>]} {
    ^bb0(%a: i64):
      %one = arith.constant 1 : i64
      %0 = arith.addi %a, %one : i64
      graph.yield %0 : i64
    }
    %c = tensor.extract %f[] : tensor<i1>
    %s = scf.if %c -> (tensor<i64>) {
      %more = graph.compute ins(%next : tensor<i64>) -> tensor<i64> {iterators = #graph.iterators<[]>, maps = [affine_map<() -> ()>, affine_map<() -> ()>]} {
      ^bb0(%a: i64):
        %0 = arith.addi %a, %a : i64
        graph.yield %0 : i64
      }
      scf.yield %more : tensor<i64>
    } else {
      scf.yield %next : tensor<i64>
    }
    scf.yield %s : tensor<i64>
  }
  return %r : tensor<i64>
}

// -----

// A program knows its symbols by dims of its inputs: where a product is all that is passed, an argument that has both comes with it.
// CHECK-LABEL: func.func @product
// CHECK: func.call @product_then(%{{.*}}, %x) : (tensor<?xf32, #dyn.shape<[M*N]>>, tensor<?x?xf32, #dyn.shape<[N, M]>>)
// CHECK: func.func private @product_then(%{{.*}}: tensor<?xf32, #dyn.shape<[M*N]>>, %{{.*}}: tensor<?x?xf32, #dyn.shape<[N, M]>>)
// INLINED-LABEL: func.func @product
func.func @product(%f: tensor<i1>, %x: tensor<?x?xf32, #dyn.shape<[N, M]>>) -> tensor<?xf32, #dyn.shape<[N*M]>> {
  %flat = graph.reshape %x : tensor<?x?xf32, #dyn.shape<[N, M]>> -> tensor<?xf32, #dyn.shape<[N*M]>>
  %c = tensor.extract %f[] : tensor<i1>
  %r = scf.if %c -> (tensor<?xf32, #dyn.shape<[N*M]>>) {
    %z = graph.compute ins(%flat : tensor<?xf32, #dyn.shape<[N*M]>>) -> tensor<?xf32, #dyn.shape<[N*M]>> {
      iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
    } {
    ^bb0(%p: f32):
      %0 = arith.mulf %p, %p : f32
      graph.yield %0 : f32
    }
    scf.yield %z : tensor<?xf32, #dyn.shape<[N*M]>>
  } else {
    scf.yield %flat : tensor<?xf32, #dyn.shape<[N*M]>>
  }
  return %r : tensor<?xf32, #dyn.shape<[N*M]>>
}
