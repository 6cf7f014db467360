// RUN: sutura-opt %s --fold-launches --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=SAID
// RUN: sutura-opt %s --fold-launches | FileCheck %s

// Constants do not grow much at compile time: what repeats one number over many elements runs at run time.

// SAID: remark: the launch of @repeats reads only constants, but runs at run time: it would hold 4000000 bytes, more than 1048576 for 0 bytes of constants

gir.kernel @repeats(%y : !gir.view<dram, f32, [M]> out) dims(%M : [0, 2000000]) grid() units(1) {
  %zero = arith.constant 0 : index
  %r = gir.fill 2.0 : f32 : !gir.tile<l1, f32, [1, M]>
  %to = gir.slice %y[%zero] cols(0) : !gir.view<dram, f32, [M]> -> !gir.slice<dram, f32, [1, M]>
  gir.store %r, %to : !gir.tile<l1, f32, [1, M]>, !gir.slice<dram, f32, [1, M]>
}

// CHECK-LABEL: rt.program @large(
// CHECK: launch @repeats
rt.program @large(%y : !rt.buffer<f32, [1000000]> out "y") {
  %t = alloc : !rt.buffer<f32, [1000000]>
  launch @repeats(%t) dims [1000000] : !rt.buffer<f32, [1000000]>
  copy %t, %y : !rt.buffer<f32, [1000000]>, !rt.buffer<f32, [1000000]>
}

// CHECK-LABEL: rt.program @small(
// CHECK-NOT: launch
rt.program @small(%y : !rt.buffer<f32, [8]> out "y") {
  %t = alloc : !rt.buffer<f32, [8]>
  launch @repeats(%t) dims [8] : !rt.buffer<f32, [8]>
  copy %t, %y : !rt.buffer<f32, [8]>, !rt.buffer<f32, [8]>
}
