// RUN: sutura-opt %s --plan-buffers | FileCheck %s

// At the likely sizes the two take more than can be addressed; at those of a run they may not.
// CHECK-LABEL: rt.program @together(
// CHECK: %[[A:.*]] = alloc : !rt.buffer<i8, [S]>
// CHECK: alloc after(%[[A]] : !rt.buffer<i8, [S]>) : !rt.buffer<i8, [S]>
rt.program @together(%x : !rt.buffer<i8, [S]> in "x", %y : !rt.buffer<i8, [S]> out "y") symbols(S : [0, 9000000000000000000] likely [6000000000000000000]) {
  %a = alloc : !rt.buffer<i8, [S]>
  %b = alloc : !rt.buffer<i8, [S]>
  copy %x, %a : !rt.buffer<i8, [S]>, !rt.buffer<i8, [S]>
  copy %a, %b : !rt.buffer<i8, [S]>, !rt.buffer<i8, [S]>
  copy %b, %y : !rt.buffer<i8, [S]>, !rt.buffer<i8, [S]>
}
