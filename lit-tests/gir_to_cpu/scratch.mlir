// RUN: sutura-opt %s --convert-gir-to-cpu | FileCheck %s

// What is used twice is kept in scratch where it is known to fit into a thread's, and computed anew where it is not. Each loop has
// its expression twice: for whole vectors, and for the last columns.

// CHECK-LABEL: func.func @fits
// CHECK: llvm.alloca
// CHECK-NOT: llvm.alloca
// CHECK-COUNT-2: math.exp
// CHECK-NOT: math.exp
gir.kernel @fits(%x : !gir.view<dram, f32, [N]> in, %y : !gir.view<dram, f32, [N]> out)
    dims(%N : [1, 262144]) grid() units(1) {
  %zero = arith.constant 0 : index
  %in = gir.slice %x[%zero] cols(0) : !gir.view<dram, f32, [N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %in : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %e = gir.unary "exp" %t : !gir.tile<l1, f32, [1, N]>
  %s = gir.reduce "add" "cols" %e : !gir.tile<l1, f32, [1, N]>
  %sb = gir.broadcast %s like %e : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %r = gir.binary "div" %e, %sb : !gir.tile<l1, f32, [1, N]>
  %out = gir.slice %y[%zero] cols(0) : !gir.view<dram, f32, [N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %r, %out : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

// CHECK-LABEL: func.func @one_more
// CHECK-NOT: llvm.alloca
// CHECK-COUNT-4: math.exp
// CHECK-NOT: math.exp
gir.kernel @one_more(%x : !gir.view<dram, f32, [N]> in, %y : !gir.view<dram, f32, [N]> out)
    dims(%N : [1, 262145]) grid() units(1) {
  %zero = arith.constant 0 : index
  %in = gir.slice %x[%zero] cols(0) : !gir.view<dram, f32, [N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %in : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %e = gir.unary "exp" %t : !gir.tile<l1, f32, [1, N]>
  %s = gir.reduce "add" "cols" %e : !gir.tile<l1, f32, [1, N]>
  %sb = gir.broadcast %s like %e : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %r = gir.binary "div" %e, %sb : !gir.tile<l1, f32, [1, N]>
  %out = gir.slice %y[%zero] cols(0) : !gir.view<dram, f32, [N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %r, %out : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}
