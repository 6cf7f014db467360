// RUN: sutura-opt %s --convert-graph-to-gir | FileCheck %s
// RUN: sutura-opt %s --convert-graph-to-gir | sutura-opt --convert-graph-to-gir | FileCheck %s

!v = tensor<?xf32, #dyn.shape<[N]>>
#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: rt.program @empty() {
// CHECK-NEXT: }
func.func @empty() {
  return
}

// Constants are copied to outputs; a name of the model is the output's.
// CHECK-LABEL: rt.program @constants(%arg0 : !rt.buffer<f32, [2]> out "ones", %arg1 : !rt.buffer<f32, [2, 1]> out "result1") {
// CHECK-NEXT: %[[C:.*]] = constant "constant0" = dense<1.000000e+00> : tensor<2xf32>
// CHECK-NEXT: %[[V:.*]] = view %[[C]]
// CHECK-NEXT: copy %[[C]], %arg0
// CHECK-NEXT: copy %[[V]], %arg1
// CHECK-NEXT: }
func.func @constants() -> (tensor<2xf32> {graph.name = "ones"}, tensor<2x1xf32>) {
  %c = graph.constant dense<1.0> : tensor<2xf32>
  %r = graph.reshape %c : tensor<2xf32> -> tensor<2x1xf32>
  return %c, %r : tensor<2xf32>, tensor<2x1xf32>
}

// Inputs that are returned are copied, each time.
// CHECK-LABEL: rt.program @inputs(
// CHECK-SAME: %[[X:.*]] : !rt.buffer<f32, [N]> in "x"
// CHECK-NEXT: copy %[[X]], %arg1
// CHECK-NEXT: copy %[[X]], %arg2
func.func @inputs(%x: !v) -> (!v, !v) {
  %N = dyn.symbol "N" : index
  return %x, %x : !v, !v
}

// A result that is returned twice is made in the first place and copied to the second; a region that hands on what it
// takes makes nothing.
// CHECK-LABEL: gir.kernel @twice_row0
// CHECK-LABEL: rt.program @twice(
// CHECK-NEXT: launch @twice_row0(%arg0, %arg1)
// CHECK-NEXT: copy %arg1, %arg2
// CHECK-NEXT: copy %arg0, %arg3
func.func @twice(%x: !v) -> (!v, !v, !v) {
  %N = dyn.symbol "N" : index
  %y = graph.fusion(%x : !v) -> !v {
  ^bb0(%a: !v):
    %n = dyn.symbol "N" : index
    %0 = graph.compute ins(%a : !v) -> !v {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = arith.negf %p : f32
      graph.yield %v : f32
    }
    graph.yield %0 : !v
  }
  %z = graph.fusion(%x : !v) -> !v {
  ^bb0(%a: !v):
    graph.yield %a : !v
  }
  return %y, %y, %z : !v, !v, !v
}

// Names that are taken are left alone.
// CHECK-LABEL: gir.kernel @named_row0(%x
// CHECK-LABEL: gir.kernel @named_row1
// CHECK-LABEL: rt.program @named(
// CHECK-NEXT: launch @named_row1
gir.kernel @named_row0(%x : !gir.view<dram, f32, [8]> in, %y : !gir.view<dram, f32, [8]> out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%zero] cols(0) : !gir.view<dram, f32, [8]> -> !gir.slice<dram, f32, [1, 8]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 8]> -> !gir.tile<l1, f32, [1, 8]>
  %to = gir.slice %y[%zero] cols(0) : !gir.view<dram, f32, [8]> -> !gir.slice<dram, f32, [1, 8]>
  gir.store %t, %to : !gir.tile<l1, f32, [1, 8]>, !gir.slice<dram, f32, [1, 8]>
}
func.func @named(%x: !v) -> !v {
  %N = dyn.symbol "N" : index
  %y = graph.fusion(%x : !v) -> !v {
  ^bb0(%a: !v):
    %n = dyn.symbol "N" : index
    %0 = graph.compute ins(%a : !v) -> !v {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = arith.negf %p : f32
      graph.yield %v : f32
    }
    graph.yield %0 : !v
  }
  return %y : !v
}

// What must be equal is checked when the program runs, in the words of the model.
// CHECK-LABEL: rt.program @checked(
// CHECK-SAME: symbols(K : [0, 2147483647], N : [0, 2147483647])
// CHECK-SAME: checks = [{kind = "compatible", left = #dyn.shape<[N]>, left_words = "N (/Add)", right = #dyn.shape<[K]>}]
func.func @checked(%x: !v, %z: tensor<?xf32, #dyn.shape<[K]>>) -> !v {
  %K = dyn.symbol "K" : index
  %N = dyn.symbol "N" : index
  dyn.equal [N], [K] {source = "/Add"}
  return %x : !v
}
