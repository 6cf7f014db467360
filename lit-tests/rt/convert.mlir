// RUN: sutura-opt %s --pass-pipeline='builtin.module(plan-buffers,convert-rt-to-llvm)' | FileCheck %s

// What the artifact says of the model stays on the module.
// CHECK: module attributes {rt.host = {
// CHECK-SAME: checks = [
// CHECK-SAME: {dim = "A", kind = "range", left = "input `x` dimension 0", right = "[0, 2147483647]"}
// CHECK-SAME: {kind = "range", left = "the size in bytes of output `y`", right = "sizes of at most 63 bits"}
// CHECK-SAME: kernels = [{guard = "C - 8 is at least 0", ops = [], symbol = "copy"}]
// CHECK-SAME: model = "main"

// CHECK-LABEL: func.func @sutura_abi_version() -> i32
// CHECK: %[[VERSION:.*]] = arith.constant 8 : i32
// CHECK: return %[[VERSION]]

// Each check goes on where it holds, and to the one block that reports where it does not. A size that may exceed 64 bits
// is bounded in floating point, which does not wrap.
// CHECK-LABEL: func.func @sutura_shapes(
// CHECK: arith.cmpi sge
// CHECK: cf.cond_br %{{.*}}, ^[[NEXT:.*]], ^[[FAIL:.*]](%{{.*}}, %{{.*}}, %{{.*}} : i32, i64, i64)
// CHECK: arith.mulf
// CHECK: arith.cmpf olt
// CHECK: cf.cond_br %{{.*}}, ^{{.*}}, ^[[FAIL]](
// CHECK: arith.muli
// CHECK: ^[[FAIL]](%[[CODE:.*]]: i32, %[[A:.*]]: i64, %[[B:.*]]: i64)
// CHECK: llvm.store %[[A]]
// CHECK: llvm.store %[[B]]
// CHECK: return %[[CODE]]

// CHECK-LABEL: func.func @sutura_run(
// CHECK: llvm.alloca
// CHECK: scf.if
// CHECK: %[[K:.*]] = {{.*}}constant @copy
// CHECK: %[[P:.*]] = {{.*}}unrealized_conversion_cast %[[K]]
// CHECK: llvm.call{{.*}}%[[P]]
// CHECK: else
// CHECK: llvm.intr.memcpy
// CHECK-NOT: rt.program
rt.program @main(%x : !rt.buffer<f32, [A, B, C]> in "x", %y : !rt.buffer<f32, [A, B, C]> out "y")
    symbols(A : [0, 2147483647], B : [0, 2147483647], C : [0, 2147483647]) {
  %t = alloc : !rt.buffer<f32, [A, B, C]>
  %from = view %x : !rt.buffer<f32, [A, B, C]> -> !rt.buffer<f32, [A*B, C]>
  %to = view %t : !rt.buffer<f32, [A, B, C]> -> !rt.buffer<f32, [A*B, C]>
  select if [C - 8] {
    launch @copy(%from, %to) dims [A*B, C] : !rt.buffer<f32, [A*B, C]>, !rt.buffer<f32, [A*B, C]>
  }, {
    copy %x, %t : !rt.buffer<f32, [A, B, C]>, !rt.buffer<f32, [A, B, C]>
  }
  copy %t, %y : !rt.buffer<f32, [A, B, C]>, !rt.buffer<f32, [A, B, C]>
}

func.func @copy(%bufs: !llvm.ptr, %dims: !llvm.ptr, %begin: i64, %end: i64) attributes {rt.kernel = {
    params = [!rt.buffer<f32, [M, N]>, !rt.buffer<f32, [M, N]>], modes = ["in", "out"],
    dims = [{name = "M", max = 9223372036854775807}, {name = "N"}], grid = #dyn.shape<[M]>}} {
  return
}
