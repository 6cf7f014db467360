// RUN: sutura-opt %s --plan-buffers | FileCheck %s
// RUN: sutura-opt %s --plan-buffers --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: sutura-opt %s --plan-buffers --pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=STATS

// STATS: (S) 2 num-buffers - temporaries placed
// STATS: (S) 64 bytes-separate
// STATS: (S) 64 bytes-planned

// CHECK-LABEL: func.func @no_program
func.func @no_program() {
  return
}

// REMARK: remark: @empty: 0 temporaries of 0 bytes in a workspace of 0 bytes
// CHECK-LABEL: rt.program @empty()
// CHECK-SAME: planned
rt.program @empty() {
}

// A temporary of no bytes has its place too.
// REMARK: remark: @zero: 2 temporaries of 64 bytes in a workspace of 64 bytes
// CHECK-LABEL: rt.program @zero
// CHECK-COUNT-2: alloc
rt.program @zero(%x : !rt.buffer<f32, [0]> in "x", %z : !rt.buffer<f32, [4]> in "z", %y : !rt.buffer<f32, [0]> out "y", %w : !rt.buffer<f32, [4]> out "w") {
  %a = alloc : !rt.buffer<f32, [0]>
  %b = alloc : !rt.buffer<f32, [4]>
  copy %x, %a : !rt.buffer<f32, [0]>, !rt.buffer<f32, [0]>
  copy %z, %b : !rt.buffer<f32, [4]>, !rt.buffer<f32, [4]>
  copy %a, %y : !rt.buffer<f32, [0]>, !rt.buffer<f32, [0]>
  copy %b, %w : !rt.buffer<f32, [4]>, !rt.buffer<f32, [4]>
}
