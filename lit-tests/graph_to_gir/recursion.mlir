// Functions that call themselves keep their meaning on the way to a host program, where one program of each circle stays. Their sizes
// are their own in each call.
// RUN: sutura-opt %s --split-input-file --pass-pipeline='builtin.module(scf-for-to-while,scalars-to-tensors,outline-regions,inline-decided,convert-elementwise-to-graph,propagate-shapes,canonicalize,cse,stitch,convert-graph-to-gir,inline-programs,update-in-place,plan-buffers,convert-gir-to-cpu)' --check-passes=4 --strict | FileCheck %s

// CHECK: rt.program @halves(
// CHECK-SAME: !rt.buffer<f32, [N]> in
// CHECK: invoke @halves ins(%{{.*}}) outs(%{{.*}}) : !rt.buffer<f32, [(N + 1) floordiv 2]>, !rt.buffer<f32, []>
// CHECK: invoke @halves ins(%{{.*}}) outs(%{{.*}}) : !rt.buffer<f32, [(N + min(N, 1) + 1) floordiv 2 - min(N, 1)]>, !rt.buffer<f32, []>
// CHECK-NOT: rt.program
func.func @halves(%x: tensor<?xf32, #dyn.shape<[N]>>) -> tensor<f32> {
  %two = arith.constant 2 : index
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32, #dyn.shape<[N]>>
  %more = arith.cmpi sge, %n, %two : index
  %y = scf.if %more -> (tensor<f32>) {
    %even = graph.slice %x {axes = array<i64: 0>, starts = array<i64: 0>, ends = array<i64: 9223372036854775807>, steps = array<i64: 2>}
        : tensor<?xf32, #dyn.shape<[N]>> -> tensor<?xf32, #dyn.shape<[(N + 1) floordiv 2]>>
    %odd = graph.slice %x {axes = array<i64: 0>, starts = array<i64: 1>, ends = array<i64: 9223372036854775807>, steps = array<i64: 2>}
        : tensor<?xf32, #dyn.shape<[N]>> -> tensor<?xf32>
    %a = func.call @halves(%even) : (tensor<?xf32, #dyn.shape<[(N + 1) floordiv 2]>>) -> tensor<f32>
    %b = func.call @halves(%odd) : (tensor<?xf32>) -> tensor<f32>
    %s = graph.compute ins(%a, %b : tensor<f32>, tensor<f32>) -> tensor<f32> {
      iterators = #graph.iterators<[]>, maps = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>]
    } {
    ^bb0(%p: f32, %q: f32):
      %0 = arith.addf %p, %q : f32
      graph.yield %0 : f32
    }
    scf.yield %s : tensor<f32>
  } else {
    %s = graph.compute ins(%x : tensor<?xf32, #dyn.shape<[N]>>) -> tensor<f32> {
      iterators = #graph.iterators<[reduce]>, combiners = #graph.combiners<[add]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>]
    } {
    ^bb0(%p: f32):
      graph.yield %p : f32
    }
    scf.yield %s : tensor<f32>
  }
  return %y : tensor<f32>
}

// -----

// CHECK: rt.program @even(
// CHECK: invoke @even
// CHECK-NOT: rt.program @odd
// CHECK: rt.program @main(
// CHECK: invoke @even
// CHECK: invoke @even
func.func private @even(%x: tensor<?x3xf32, #dyn.shape<[R, 3]>>, %n: tensor<i32>) -> tensor<?x3xf32, #dyn.shape<[R, 3]>> {
  %w = graph.constant dense<[[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [1.0, 0.0, 2.0]]> : tensor<3x3xf32>
  %z = graph.compute ins(%x, %w : tensor<?x3xf32, #dyn.shape<[R, 3]>>, tensor<3x3xf32>) -> tensor<?x3xf32, #dyn.shape<[R, 3]>> {
    iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>,
    maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>]
  } {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %b : f32
    graph.yield %0 : f32
  }
  %i = tensor.extract %n[] : tensor<i32>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %go = arith.cmpi sgt, %i, %zero : i32
  %y = scf.if %go -> (tensor<?x3xf32, #dyn.shape<[R, 3]>>) {
    %j = arith.subi %i, %one : i32
    %m = tensor.from_elements %j : tensor<i32>
    %r = func.call @odd(%z, %m) : (tensor<?x3xf32, #dyn.shape<[R, 3]>>, tensor<i32>) -> tensor<?x3xf32, #dyn.shape<[R, 3]>>
    scf.yield %r : tensor<?x3xf32, #dyn.shape<[R, 3]>>
  } else {
    scf.yield %z : tensor<?x3xf32, #dyn.shape<[R, 3]>>
  }
  return %y : tensor<?x3xf32, #dyn.shape<[R, 3]>>
}

func.func private @odd(%x: tensor<?x3xf32, #dyn.shape<[S, 3]>>, %n: tensor<i32>) -> tensor<?x3xf32, #dyn.shape<[S, 3]>> {
  %row = graph.constant dense<[[1.0, 2.0, 3.0]]> : tensor<1x3xf32>
  %i = tensor.extract %n[] : tensor<i32>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %go = arith.cmpi sgt, %i, %zero : i32
  %y = scf.if %go -> (tensor<?x3xf32, #dyn.shape<[S, 3]>>) {
    %j = arith.subi %i, %one : i32
    %m = tensor.from_elements %j : tensor<i32>
    %longer = graph.concat %row, %x {axis = 0} : tensor<1x3xf32>, tensor<?x3xf32, #dyn.shape<[S, 3]>> -> tensor<?x3xf32, #dyn.shape<[S + 1, 3]>>
    %r = func.call @even(%longer, %m) : (tensor<?x3xf32, #dyn.shape<[S + 1, 3]>>, tensor<i32>) -> tensor<?x3xf32, #dyn.shape<[S + 1, 3]>>
    %s = graph.slice %r {axes = array<i64: 0>, starts = array<i64: 1>, ends = array<i64: 9223372036854775807>, steps = array<i64: 1>}
        : tensor<?x3xf32, #dyn.shape<[S + 1, 3]>> -> tensor<?x3xf32, #dyn.shape<[S, 3]>>
    scf.yield %s : tensor<?x3xf32, #dyn.shape<[S, 3]>>
  } else {
    scf.yield %x : tensor<?x3xf32, #dyn.shape<[S, 3]>>
  }
  return %y : tensor<?x3xf32, #dyn.shape<[S, 3]>>
}

func.func @main(%x: tensor<?x3xf32, #dyn.shape<[M, 3]>>, %n: tensor<i32>) -> (tensor<?x3xf32, #dyn.shape<[M, 3]>>, tensor<?x3xf32, #dyn.shape<[M, 3]>>) {
  %a = call @even(%x, %n) : (tensor<?x3xf32, #dyn.shape<[M, 3]>>, tensor<i32>) -> tensor<?x3xf32, #dyn.shape<[M, 3]>>
  %b = call @odd(%x, %n) : (tensor<?x3xf32, #dyn.shape<[M, 3]>>, tensor<i32>) -> tensor<?x3xf32, #dyn.shape<[M, 3]>>
  return %a, %b : tensor<?x3xf32, #dyn.shape<[M, 3]>>, tensor<?x3xf32, #dyn.shape<[M, 3]>>
}
