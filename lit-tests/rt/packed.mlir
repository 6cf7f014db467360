// RUN: sutura-opt %s --pass-pipeline='builtin.module(plan-buffers,convert-rt-to-llvm)' | FileCheck %s

// Launches that run together are one call of a function that takes the arguments of all: the groups up to the end of each
// part, then the sizes of the parts. A name that is taken is not taken again, and equal launches share a function.

// CHECK: kernels = [{ops = [], symbol = "copy"}, {ops = [], symbol = "fill"}, {ops = [], parts = ["copy", "fill"], symbol = "sutura_packed1"}]
// CHECK-LABEL: func.func @sutura_run(
// CHECK: %[[ALL:.*]] = arith.addi
// CHECK: constant @sutura_packed1
// CHECK: llvm.call
// CHECK: scf.if
// CHECK: constant @sutura_packed1
// CHECK: llvm.call
// CHECK-NOT: llvm.call

// CHECK-LABEL: func.func @sutura_packed1(
// CHECK-SAME: %[[BUFS:.*]]: !llvm.ptr, %[[DIMS:.*]]: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64)
// CHECK: %[[ZERO:.*]] = arith.constant 0 : i64
// CHECK: %[[FIRST:.*]] = llvm.load %[[DIMS]]
// CHECK: arith.maxsi %[[BEGIN]], %[[ZERO]]
// CHECK: arith.minsi %[[END]], %[[FIRST]]
// CHECK: scf.if
// CHECK: call @copy(%[[BUFS]], %{{.*}}, %{{.*}}, %{{.*}})
// CHECK: arith.maxsi %[[BEGIN]], %[[FIRST]]
// CHECK: scf.if
// CHECK: call @fill(
// CHECK: return
// CHECK-NOT: func.func @sutura_packed2

rt.program @main(%x : !rt.buffer<f32, [A]> in "x", %y : !rt.buffer<f32, [A]> out "y", %z : !rt.buffer<f32, [A]> out "z")
    symbols(A : [0, 1000]) {
  %t = alloc : !rt.buffer<f32, [A]>
  packed {
    launch @copy(%x, %y) dims [A] : !rt.buffer<f32, [A]>, !rt.buffer<f32, [A]>
    launch @fill(%t) dims [A] : !rt.buffer<f32, [A]>
  }
  select if [A - 8] {
    packed {
      launch @copy(%t, %y) dims [A] : !rt.buffer<f32, [A]>, !rt.buffer<f32, [A]>
      launch @fill(%z) dims [A] : !rt.buffer<f32, [A]>
    }
  }, {
    copy %t, %z : !rt.buffer<f32, [A]>, !rt.buffer<f32, [A]>
  }
}

func.func @copy(%bufs: !llvm.ptr, %dims: !llvm.ptr, %begin: i64, %end: i64) attributes {rt.kernel = {
    params = [!rt.buffer<f32, [M]>, !rt.buffer<f32, [M]>], modes = ["in", "out"],
    dims = [{name = "M"}], grid = #dyn.shape<[M]>}} {
  return
}

func.func @fill(%bufs: !llvm.ptr, %dims: !llvm.ptr, %begin: i64, %end: i64) attributes {rt.kernel = {
    params = [!rt.buffer<f32, [M]>], modes = ["out"], dims = [{name = "M"}], grid = #dyn.shape<[M]>}} {
  return
}

func.func @sutura_packed0() {
  return
}
