// Loops that cannot be unrolled whole stay loops: LLVM is told so. A window, of which each loop has few trips, it may unroll.
// RUN: sutura-opt %s --convert-gir-to-cpu=vector-bytes=64 | FileCheck %s

!view = !gir.view<dram, f32, [64, 64]>
!window = !gir.view<dram, f32, [3, 3, 64]>
!open = !gir.view<dram, f32, [3, 3, M, 64]>
!row = !gir.tile<vec, f32, [1, 64]>

// CHECK-LABEL: func.func @long(
// CHECK: } {loop_annotation = #llvm.loop_annotation<unroll = <disable = true>>}
gir.kernel @long(%x : !view in, %y : !view out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %end = arith.constant 64 : index
  gir.for %r = %zero to %end {
    %from = gir.slice %x[%r, %zero] cols(1) : !view -> !gir.slice<dram, f32, [1, 64]>
    %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !row
    %to = gir.slice %y[%r, %zero] cols(1) : !view -> !gir.slice<dram, f32, [1, 64]>
    gir.store %t, %to : !row, !gir.slice<dram, f32, [1, 64]>
  }
}

// CHECK-LABEL: func.func @window(
// CHECK-NOT: loop_annotation
gir.kernel @window(%x : !window in, %y : !window out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %three = arith.constant 3 : index
  gir.for %r = %zero to %three {
    gir.for %s = %zero to %three {
      %from = gir.slice %x[%r, %s, %zero] cols(2) : !window -> !gir.slice<dram, f32, [1, 64]>
      %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !row
      %to = gir.slice %y[%r, %s, %zero] cols(2) : !window -> !gir.slice<dram, f32, [1, 64]>
      gir.store %t, %to : !row, !gir.slice<dram, f32, [1, 64]>
    }
  }
}

// A window around a loop that stays one stays one too, and so does a loop of which the number of trips is not known.
// CHECK-LABEL: func.func @around(
// CHECK-COUNT-3: } {loop_annotation = #llvm.loop_annotation<unroll = <disable = true>>}
gir.kernel @around(%x : !open in, %y : !open out) dims(%M : [0, 64]) grid() units(1) {
  %zero = arith.constant 0 : index
  %three = arith.constant 3 : index
  gir.for %r = %zero to %three {
    gir.for %s = %zero to %three {
      gir.for %t = %zero to %M {
        %from = gir.slice %x[%r, %s, %t, %zero] cols(3) : !open -> !gir.slice<dram, f32, [1, 64]>
        %v = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !row
        %to = gir.slice %y[%r, %s, %t, %zero] cols(3) : !open -> !gir.slice<dram, f32, [1, 64]>
        gir.store %v, %to : !row, !gir.slice<dram, f32, [1, 64]>
      }
    }
  }
}
