// What is copied, changed and copied back is changed where it lies; what is used in between, or elsewhere, is not.
// RUN: sutura-opt %s --update-in-place --check-passes -o %t.out
// RUN: FileCheck %s --input-file=%t.out
// RUN: sutura-opt %s --update-in-place --plan-buffers --check-passes -o /dev/null
// RUN: sutura-opt %s --update-in-place --remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: @loop: 1 temporary is changed in place
// REMARK: @nested: 2 temporaries are changed in place
// REMARK: @exchanged: 1 temporary is changed in place
// REMARK-NOT: changed in place

gir.kernel @first(%x : !gir.view<dram, f32, [1]> in, %y : !gir.view<dram, f32, [n]> inout) dims(%n : [1, 2147483647]) grid(%g = 1) units(1) {
  %from = gir.slice %x[%g] : !gir.view<dram, f32, [1]> -> !gir.slice<dram, f32, [1, 1]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 1]> -> !gir.tile<vec, f32, [1, 1]>
  %u = gir.binary "add" %t, %t : !gir.tile<vec, f32, [1, 1]>
  %to = gir.slice %y[%g] : !gir.view<dram, f32, [n]> -> !gir.slice<dram, f32, [1, 1]>
  gir.store %u, %to : !gir.tile<vec, f32, [1, 1]>, !gir.slice<dram, f32, [1, 1]>
}

// CHECK-LABEL: rt.program @loop
// CHECK: %[[STATE:.*]] = alloc : !rt.buffer<f32, [N]>
// CHECK-NOT: each_iteration
// CHECK: copy %x, %[[STATE]]
// CHECK: do {
// CHECK-NEXT: %[[VIEW:.*]] = view %[[STATE]] : !rt.buffer<f32, [N]> -> !rt.buffer<f32, [1, N]>
// CHECK-NEXT: view %[[VIEW]]
// CHECK-NEXT: launch @first(%w, %{{.*}})
// CHECK-NEXT: copy %no
// CHECK-NEXT: }
// CHECK: copy %[[STATE]], %y
rt.program @loop(%x : !rt.buffer<f32, [N]> in "x", %w : !rt.buffer<f32, [1]> in "w", %y : !rt.buffer<f32, [N]> out "y") symbols(N : [1, 64]) {
  %no = constant "no" = dense<false> : tensor<i1>
  %yes = constant "yes" = dense<true> : tensor<i1>
  %go = alloc : !rt.buffer<i1, []>
  %s = alloc : !rt.buffer<f32, [N]>
  %next = alloc {each_iteration} : !rt.buffer<f32, [N]>
  copy %yes, %go : !rt.buffer<i1, []>, !rt.buffer<i1, []>
  copy %x, %s : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  while %go : !rt.buffer<i1, []> {
  } do {
    copy %s, %next : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
    %v = view %next : !rt.buffer<f32, [N]> -> !rt.buffer<f32, [1, N]>
    %u = view %v : !rt.buffer<f32, [1, N]> -> !rt.buffer<f32, [N]>
    launch @first(%w, %u) dims [N] : !rt.buffer<f32, [1]>, !rt.buffer<f32, [N]>
    copy %no, %go : !rt.buffer<i1, []>, !rt.buffer<i1, []>
    copy %next, %s : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  }
  copy %s, %y : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
}

// One pair in the other: the outer one shows when the inner one is gone.
// CHECK-LABEL: rt.program @nested
// CHECK: %[[A:.*]] = alloc
// CHECK-NOT: alloc
// CHECK: copy %x, %[[A]]
// CHECK-NEXT: launch @first(%w, %[[A]])
// CHECK-NEXT: copy %[[A]], %y
rt.program @nested(%x : !rt.buffer<f32, [N]> in "x", %w : !rt.buffer<f32, [1]> in "w", %y : !rt.buffer<f32, [N]> out "y") symbols(N : [1, 64]) {
  %a = alloc : !rt.buffer<f32, [N]>
  %b = alloc : !rt.buffer<f32, [N]>
  %c = alloc : !rt.buffer<f32, [N]>
  copy %x, %a : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  copy %a, %b : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  copy %b, %c : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  launch @first(%w, %c) dims [N] : !rt.buffer<f32, [1]>, !rt.buffer<f32, [N]>
  copy %c, %b : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  copy %b, %a : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  copy %a, %y : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
}

// A copy that takes the place of the first one by exchange; and one whose old elements are read afterwards.
// CHECK-LABEL: rt.program @exchanged
// CHECK: %[[A:.*]] = alloc
// CHECK: copy %x, %[[A]]
// CHECK-NEXT: launch @first(%w, %[[A]])
// CHECK-NEXT: copy %[[A]], %y
// CHECK: exchange
// CHECK-NEXT: copy %{{.*}}, %z
rt.program @exchanged(%x : !rt.buffer<f32, [N]> in "x", %w : !rt.buffer<f32, [1]> in "w", %y : !rt.buffer<f32, [N]> out "y", %z : !rt.buffer<f32, [N]> out "z") symbols(N : [1, 64]) {
  %a = alloc : !rt.buffer<f32, [N]>
  %b = alloc : !rt.buffer<f32, [N]>
  %c = alloc : !rt.buffer<f32, [N]>
  copy %x, %a : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  copy %a, %b : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  launch @first(%w, %b) dims [N] : !rt.buffer<f32, [1]>, !rt.buffer<f32, [N]>
  exchange %b, %a : !rt.buffer<f32, [N]>
  copy %a, %y : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  copy %a, %c : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  launch @first(%w, %c) dims [N] : !rt.buffer<f32, [1]>, !rt.buffer<f32, [N]>
  exchange %a, %c : !rt.buffer<f32, [N]>
  copy %c, %z : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
}

// The old elements are read after the new one is written; those of an input and an output are not temporaries; the copy is read
// afterwards.
// CHECK-LABEL: rt.program @stays
// CHECK-COUNT-9: {{^ *}}copy %
rt.program @stays(%x : !rt.buffer<f32, [N]> in "x", %w : !rt.buffer<f32, [1]> in "w", %y : !rt.buffer<f32, [N]> out "y", %z : !rt.buffer<f32, [N]> out "z") symbols(N : [1, 64]) {
  %a = alloc : !rt.buffer<f32, [N]>
  %b = alloc : !rt.buffer<f32, [N]>
  %c = alloc : !rt.buffer<f32, [N]>
  copy %x, %a : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  copy %a, %b : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  launch @first(%w, %b) dims [N] : !rt.buffer<f32, [1]>, !rt.buffer<f32, [N]>
  copy %a, %y : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  copy %b, %a : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  copy %a, %c : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  launch @first(%w, %c) dims [N] : !rt.buffer<f32, [1]>, !rt.buffer<f32, [N]>
  copy %c, %a : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  launch @first(%w, %c) dims [N] : !rt.buffer<f32, [1]>, !rt.buffer<f32, [N]>
  copy %c, %z : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  copy %z, %c : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  copy %c, %z : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
}
