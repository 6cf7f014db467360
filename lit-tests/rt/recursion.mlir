// RUN: sutura-opt %s --split-input-file --inline-programs | FileCheck %s
// RUN: sutura-opt %s --split-input-file --inline-programs --remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: sutura-opt %s --split-input-file --inline-programs --update-in-place --plan-buffers -o /dev/null
// RUN: sutura-opt %s --split-input-file --inline-programs --plan-buffers --convert-rt-to-llvm | FileCheck %s --check-prefix=HOST

// A program that invokes itself by its side stays, with that side in it; its sizes are its own.
// REMARK: remark: @f: 1 programs that it invokes are part of it
// REMARK: remark: @f runs while it runs, and stays a function of the host program
// CHECK-NOT: rt.program @side
// CHECK-LABEL: rt.program @f(
// CHECK-SAME: attributes {private}
// CHECK: if %{{.*}} : !rt.buffer<i1, []> {
// CHECK-NEXT: invoke @f ins(%{{.*}}, %{{.*}}) outs(%{{.*}}) : !rt.buffer<i1, []>, !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
// CHECK: } else {
// CHECK-LABEL: rt.program @main(
// CHECK: invoke @f ins(%{{.*}}, %{{.*}}) outs(%{{.*}}) : !rt.buffer<i1, []>, !rt.buffer<f32, [2*A]>, !rt.buffer<f32, [2*A]>

// HOST: functions = [{name = "f", temporaries = [{after = [], bytes = "64*((N + 15) floordiv 16)"}]}]
// HOST-LABEL: func.func @sutura_run(
// HOST: %[[FAILED:.*]] = call @sutura_shapes_of0(
// HOST: %[[FINE:.*]] = arith.cmpi eq, %[[FAILED]]
// HOST: cf.cond_br %[[FINE]], ^{{.*}}, ^{{.*}}(%[[FAILED]], %{{.*}}, %{{.*}} : i32, i64, i64)
// HOST: %[[CODE:.*]] = call @sutura_run_of0(
// HOST: %[[OVER:.*]] = arith.cmpi eq, %[[CODE]]
// HOST: cf.cond_br %[[OVER]], ^{{.*}}, ^{{.*}}(%[[CODE]] : i32)
// HOST: llvm.getelementptr %{{.*}}[9]
// HOST-LABEL: func.func @sutura_shapes_of0(
// HOST-LABEL: func.func @sutura_run_of0(
// HOST: call @sutura_shapes_of0(
// HOST: call @sutura_run_of0(
rt.program @side(%x : !rt.buffer<f32, [K]> in "x", %y : !rt.buffer<f32, [K]> out "y") symbols(K : [0, 64]) attributes {private} {
  %no = constant "no" = dense<false> : tensor<i1>
  %t = alloc : !rt.buffer<f32, [K]>
  invoke @f ins(%no, %x) outs(%t) : !rt.buffer<i1, []>, !rt.buffer<f32, [K]>, !rt.buffer<f32, [K]>
  copy %t, %y : !rt.buffer<f32, [K]>, !rt.buffer<f32, [K]>
}
rt.program @f(%c : !rt.buffer<i1, []> in "c", %x : !rt.buffer<f32, [N]> in "x", %y : !rt.buffer<f32, [N]> out "y")
    symbols(N : [0, 64]) attributes {private} {
  if %c : !rt.buffer<i1, []> {
    invoke @side ins(%x) outs(%y) : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  } else {
    copy %x, %y : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  }
}
rt.program @main(%c : !rt.buffer<i1, []> in "c", %x : !rt.buffer<f32, [2*A]> in "x", %y : !rt.buffer<f32, [2*A]> out "y") symbols(A : [0, 32]) {
  invoke @f ins(%c, %x) outs(%y) : !rt.buffer<i1, []>, !rt.buffer<f32, [2*A]>, !rt.buffer<f32, [2*A]>
}

// -----

// Of programs that invoke each other in a circle the one stays where the circle is entered.
// CHECK-LABEL: rt.program @even(
// CHECK: invoke @even
// CHECK-NOT: rt.program @odd
// CHECK-LABEL: rt.program @main(
// CHECK: invoke @even
// CHECK: invoke @even
rt.program @odd(%c : !rt.buffer<i1, []> in "c", %d : !rt.buffer<i1, []> in "d", %y : !rt.buffer<i1, []> out "y") symbols() attributes {private} {
  if %c : !rt.buffer<i1, []> {
    invoke @even ins(%d, %c) outs(%y) : !rt.buffer<i1, []>, !rt.buffer<i1, []>, !rt.buffer<i1, []>
  } else {
    copy %c, %y : !rt.buffer<i1, []>, !rt.buffer<i1, []>
  }
}
rt.program @even(%c : !rt.buffer<i1, []> in "c", %d : !rt.buffer<i1, []> in "d", %y : !rt.buffer<i1, []> out "y") symbols() attributes {private} {
  %no = constant "no" = dense<false> : tensor<i1>
  if %c : !rt.buffer<i1, []> {
    invoke @odd ins(%d, %no) outs(%y) : !rt.buffer<i1, []>, !rt.buffer<i1, []>, !rt.buffer<i1, []>
  } else {
    copy %d, %y : !rt.buffer<i1, []>, !rt.buffer<i1, []>
  }
}
rt.program @main(%c : !rt.buffer<i1, []> in "c", %y : !rt.buffer<i1, []> out "y", %z : !rt.buffer<i1, []> out "z") symbols() {
  %yes = constant "yes" = dense<true> : tensor<i1>
  invoke @even ins(%c, %yes) outs(%y) : !rt.buffer<i1, []>, !rt.buffer<i1, []>, !rt.buffer<i1, []>
  invoke @odd ins(%c, %yes) outs(%z) : !rt.buffer<i1, []>, !rt.buffer<i1, []>, !rt.buffer<i1, []>
}

// -----

// A model may be its own function, which nothing else calls.
// CHECK-LABEL: rt.program @again(
// CHECK-NOT: attributes {private}
// CHECK: invoke @again
// CHECK-NOT: rt.program @lost
// HOST: checks = [{dim = "N", kind = "range", left = "input `x` dimension 0", right = "[0, 64]"}, {dim = "N", kind = "range", left = "input `x` dimension 0 of `again`", right = "[0, 64]"}]
// HOST: functions = [{name = "again", temporaries = []}]
rt.program @lost(%x : !rt.buffer<f32, [N]> in "x", %y : !rt.buffer<f32, [N]> out "y") symbols(N : [0, 64]) attributes {private} {
  invoke @lost ins(%x) outs(%y) : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
}
rt.program @again(%c : !rt.buffer<i1, []> in "c", %x : !rt.buffer<f32, [N]> in "x", %y : !rt.buffer<f32, [N]> out "y") symbols(N : [0, 64]) {
  %no = constant "no" = dense<false> : tensor<i1>
  if %c : !rt.buffer<i1, []> {
    invoke @again ins(%no, %x) outs(%y) : !rt.buffer<i1, []>, !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  } else {
    copy %x, %y : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  }
}
