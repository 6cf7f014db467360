// Sizes that data decide in a condition and in a loop, each time anew, in a program that others run.

// RUN: sutura-opt %s --inline-programs | FileCheck %s
// RUN: sutura-opt %s --inline-programs --plan-buffers -o /dev/null
// RUN: sutura-opt %s --inline-programs --plan-buffers --convert-gir-to-cpu --convert-rt-to-llvm | FileCheck %s --check-prefix=HOST

gir.kernel @last(%x : !gir.view<dram, i64, [1, n]> in, %y : !gir.view<dram, i64, []> out) dims(%n : [0, 2147483647]) grid() units(1) {
  %c0 = arith.constant 0 : index
  %from = gir.slice %x[%c0, %c0] cols(1) : !gir.view<dram, i64, [1, n]> -> !gir.slice<dram, i64, [1, n]>
  %t = gir.load %from : !gir.slice<dram, i64, [1, n]> -> !gir.tile<l1, i64, [1, n]>
  %m = gir.reduce "addi" "cols" %t : !gir.tile<l1, i64, [1, n]>
  %to = gir.slice %y[] : !gir.view<dram, i64, []> -> !gir.slice<dram, i64, [1, 1]>
  gir.store %m, %to : !gir.tile<l1, i64, [1, 1]>, !gir.slice<dram, i64, [1, 1]>
}

rt.program @sum(%x : !rt.buffer<f32, [B]> in "x", %y : !rt.buffer<i64, []> out "y") symbols(B : [0, 64], N : [0, 64]) attributes {private} {
  %s = alloc : !rt.buffer<i64, [1]>
  %t = alloc : !rt.buffer<i64, [1, N]>
  call "non_zero" version 1 ins(%x) outs(%t, %s) params(found [N]) : !rt.buffer<f32, [B]>, !rt.buffer<i64, [1, N]>, !rt.buffer<i64, [1]>
  launch @last(%t, %y) dims [N] : !rt.buffer<i64, [1, N]>, !rt.buffer<i64, []>
}

// CHECK-LABEL: rt.program @main(
// CHECK-SAME: symbols(B : [0, 64], C : [0, 64], N : [0, 64], N_2 : [0, 64], N_3 : [0, 64])
// CHECK: params(found [N])
// CHECK: launch @last({{.*}}) dims [N]
// CHECK: params(found [N_2])
// CHECK: launch @last({{.*}}) dims [N_2]
// CHECK: params(found [N_3])
// What the call has decided is read and checked behind it, in the block in which it stands.
// HOST-LABEL: func.func @sutura_run(
// HOST-COUNT-3: llvm.call {{.*}} -> i32
rt.program @main(%x : !rt.buffer<f32, [B]> in "x", %w : !rt.buffer<f32, [C]> in "w", %c : !rt.buffer<i1, []> in "c",
                 %y : !rt.buffer<i64, []> out "y", %z : !rt.buffer<i64, []> out "z") symbols(B : [0, 64], C : [0, 64]) {
  %go = alloc : !rt.buffer<i1, []>
  %no = constant "no" = dense<false> : tensor<i1>
  %zero = constant "zero" = dense<0> : tensor<i64>
  if %c : !rt.buffer<i1, []> {
    invoke @sum ins(%x) outs(%y) : !rt.buffer<f32, [B]>, !rt.buffer<i64, []>
  } else {
    invoke @sum ins(%w) outs(%y) : !rt.buffer<f32, [C]>, !rt.buffer<i64, []>
  }
  copy %zero, %z : !rt.buffer<i64, []>, !rt.buffer<i64, []>
  copy %c, %go : !rt.buffer<i1, []>, !rt.buffer<i1, []>
  while %go : !rt.buffer<i1, []> {
  } do {
    invoke @sum ins(%x) outs(%z) : !rt.buffer<f32, [B]>, !rt.buffer<i64, []>
    copy %no, %go : !rt.buffer<i1, []>, !rt.buffer<i1, []>
  }
}
