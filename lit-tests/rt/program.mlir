// RUN: sutura-opt %s | FileCheck %s
// RUN: sutura-opt %s | sutura-opt | FileCheck %s
// RUN: sutura-opt %s --mlir-print-op-generic | sutura-opt | FileCheck %s

// CHECK-LABEL: rt.program @main(
// CHECK-SAME: %x : !rt.buffer<f32, [B, S]> in "x", %y : !rt.buffer<f32, [B, S]> out "y", %z : !rt.buffer<f32, [B*S]> out "z")
// CHECK-SAME: symbols(B : [0, 64] likely [8, 1], S : [2, 4096] div 2)
// CHECK-SAME: checks = [{dim = "seq", kind = "at_least", left = #dyn.shape<[S]>, right = #dyn.shape<[B]>}]
rt.program @main(%x : !rt.buffer<f32, [B, S]> in "x", %y : !rt.buffer<f32, [B, S]> out "y",
                 %z : !rt.buffer<f32, [S*B]> out "z")
    symbols(B : [0, 64] likely [8, 1], S : [2, 4096] div 2)
    attributes {checks = [{kind = "at_least", left = #dyn.shape<[S]>, right = #dyn.shape<[B]>, dim = "seq"}]} {
  // CHECK: %w = constant "w" = dense<2.000000e+00> : tensor<4xf32>
  %w = constant "w" = dense<2.0> : tensor<4xf32>
  // CHECK: %t = alloc : !rt.buffer<f32, [B, S]>
  %t = alloc : !rt.buffer<f32, [B, S]>
  // CHECK: %u = alloc after(%t : !rt.buffer<f32, [B, S]>) : !rt.buffer<f32, [B, S]>
  %u = alloc after(%t : !rt.buffer<f32, [B, S]>) : !rt.buffer<f32, [B, S]>
  // CHECK: launch @copy(%x, %t) dims [B, S] :
  launch @copy(%x, %t) dims [B, S] : !rt.buffer<f32, [B, S]>, !rt.buffer<f32, [B, S]>
  // CHECK: select if [-S + 100], [-2*S + 4000, B - 1] {
  // CHECK: launch @copy(%t, %u) dims [B, S] work [10*B*S] :
  // CHECK: }, {
  // CHECK: }, {
  // CHECK: copy %t, %u :
  select if [100 - S], [4000 - 2*S, B - 1] {
    launch @copy(%t, %u) dims [B, S] work [10*B*S] : !rt.buffer<f32, [B, S]>, !rt.buffer<f32, [B, S]>
  }, {
    launch @copy(%t, %u) dims [B, S] : !rt.buffer<f32, [B, S]>, !rt.buffer<f32, [B, S]>
  }, {
    copy %t, %u : !rt.buffer<f32, [B, S]>, !rt.buffer<f32, [B, S]>
  }
  // CHECK: packed {
  // CHECK-NEXT: launch @copy(%x, %a) dims [B, S] :
  // CHECK-NEXT: launch @copy(%x, %b) dims [B, S] :
  // CHECK-NEXT: }
  %a = alloc : !rt.buffer<f32, [B, S]>
  %b = alloc : !rt.buffer<f32, [B, S]>
  packed {
    launch @copy(%x, %a) dims [B, S] : !rt.buffer<f32, [B, S]>, !rt.buffer<f32, [B, S]>
    launch @copy(%x, %b) dims [B, S] : !rt.buffer<f32, [B, S]>, !rt.buffer<f32, [B, S]>
  }
  launch @copy(%u, %y) dims [B, S] : !rt.buffer<f32, [B, S]>, !rt.buffer<f32, [B, S]>
  // CHECK: %v = view %y : !rt.buffer<f32, [B, S]> -> !rt.buffer<f32, [B*S]>
  %v = view %y : !rt.buffer<f32, [B, S]> -> !rt.buffer<f32, [B*S]>
  copy %v, %z : !rt.buffer<f32, [B*S]>, !rt.buffer<f32, [S*B]>
}

func.func @copy(%bufs: !llvm.ptr, %dims: !llvm.ptr, %begin: i64, %end: i64) attributes {rt.kernel = {
    params = [!rt.buffer<f32, [M, N]>, !rt.buffer<f32, [M, N]>], modes = ["in", "out"],
    dims = [{name = "M"}, {name = "N"}], grid = #dyn.shape<[M]>}} {
  return
}
