// RUN: sutura-opt %s --plan-buffers | FileCheck %s
// RUN: sutura-opt %s --plan-buffers --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: sutura-opt %s --plan-buffers | sutura-opt --plan-buffers | FileCheck %s --check-prefix=AGAIN

// A chain alternates between two places, whatever the sizes are; what nothing uses is gone.
// REMARK: remark: @chain: 3 temporaries of 192 bytes in a workspace of 128 bytes at B = 8
// CHECK-LABEL: rt.program @chain
// CHECK-SAME: planned
// CHECK-NEXT: %a = alloc :
// CHECK-NEXT: %c = alloc :
// CHECK-NEXT: %b = alloc after(%a, %c :
// CHECK-NEXT: copy
// CHECK-NOT: alloc
// AGAIN-LABEL: rt.program @chain
// AGAIN-NEXT: %a = alloc :
// AGAIN-NEXT: %c = alloc :
// AGAIN-NEXT: %b = alloc after(%a, %c :
rt.program @chain(%x : !rt.buffer<f32, [B]> in "x", %y : !rt.buffer<f32, [B]> out "y") symbols(B : [0, 64] likely [8]) {
  %a = alloc : !rt.buffer<f32, [B]>
  copy %x, %a : !rt.buffer<f32, [B]>, !rt.buffer<f32, [B]>
  %b = alloc : !rt.buffer<f32, [B]>
  %unused = alloc : !rt.buffer<f32, [B]>
  %v = view %unused : !rt.buffer<f32, [B]> -> !rt.buffer<f32, [B, 1]>
  copy %a, %b : !rt.buffer<f32, [B]>, !rt.buffer<f32, [B]>
  %c = alloc : !rt.buffer<f32, [B]>
  copy %b, %c : !rt.buffer<f32, [B]>, !rt.buffer<f32, [B]>
  copy %c, %y : !rt.buffer<f32, [B]>, !rt.buffer<f32, [B]>
}

// Two small buffers lie where a large one was: that S never exceeds B * S is not known, and need not be.
// REMARK: remark: @unordered: 3 temporaries of 4096 bytes in a workspace of 3200 bytes at B = 8, S = 100
// CHECK-LABEL: rt.program @unordered
// CHECK-NEXT: %large = alloc :
// CHECK-NEXT: %p = alloc :
// CHECK-NEXT: %q = alloc after(%p :
rt.program @unordered(%x : !rt.buffer<f32, [B, S]> in "x", %w : !rt.buffer<f32, [S]> in "w",
                      %y : !rt.buffer<f32, [B, S]> out "y", %z : !rt.buffer<f32, [S]> out "z")
    symbols(B : [0, 64] likely [8], S : [0, 4096] likely [100]) {
  %large = alloc : !rt.buffer<f32, [B, S]>
  copy %x, %large : !rt.buffer<f32, [B, S]>, !rt.buffer<f32, [B, S]>
  copy %large, %y : !rt.buffer<f32, [B, S]>, !rt.buffer<f32, [B, S]>
  %p = alloc : !rt.buffer<f32, [S]>
  %q = alloc : !rt.buffer<f32, [S]>
  copy %w, %p : !rt.buffer<f32, [S]>, !rt.buffer<f32, [S]>
  copy %p, %q : !rt.buffer<f32, [S]>, !rt.buffer<f32, [S]>
  copy %q, %z : !rt.buffer<f32, [S]>, !rt.buffer<f32, [S]>
}
