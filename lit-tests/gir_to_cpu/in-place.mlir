// What a loop keeps for the last one lies in the output, where `gir.home` says so: where nothing else of the row is needed any more.
//
// RUN: sutura-opt %s --gir-cache-hints --convert-gir-to-cpu=vector-bytes=32 | FileCheck %s
// RUN: sutura-opt %s --convert-gir-to-cpu=vector-bytes=32 | FileCheck %s --check-prefix=UNSAID
// UNSAID-COUNT-4: llvm.alloca

// CHECK-LABEL: func.func @scaled(
// CHECK-NOT: llvm.alloca
// CHECK-COUNT-2: math.tanh
// CHECK-NOT: math.tanh
// CHECK: return
gir.kernel @scaled(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 100], %N : [0, 100]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %h = gir.unary "tanh" %t : !gir.tile<l1, f32, [1, N]>
  %sum = gir.reduce "add" "cols" %h : !gir.tile<l1, f32, [1, N]>
  %b = gir.broadcast %sum like %h : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %r = gir.binary "mul" %h, %b : !gir.tile<l1, f32, [1, N]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %r, %to : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

// The argument is read again with the store, and it could be where the output is.
// CHECK-LABEL: func.func @read_again(
// CHECK: llvm.alloca
// CHECK: math.tanh
gir.kernel @read_again(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 100], %N : [0, 100]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %h = gir.unary "tanh" %t : !gir.tile<l1, f32, [1, N]>
  %sum = gir.reduce "add" "cols" %h : !gir.tile<l1, f32, [1, N]>
  %b = gir.broadcast %sum like %h : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %s = gir.binary "mul" %h, %b : !gir.tile<l1, f32, [1, N]>
  %r = gir.binary "add" %s, %t : !gir.tile<l1, f32, [1, N]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %r, %to : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

// The largest of a row may be found in a second run of its loop, which must read what the first did.
// CHECK-LABEL: func.func @largest(
// CHECK: llvm.alloca
// CHECK: math.tanh
gir.kernel @largest(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 100], %N : [1, 100]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %h = gir.unary "tanh" %t : !gir.tile<l1, f32, [1, N]>
  %max = gir.reduce "max" "cols" %h : !gir.tile<l1, f32, [1, N]>
  %b = gir.broadcast %max like %h : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %r = gir.binary "sub" %h, %b : !gir.tile<l1, f32, [1, N]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %r, %to : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

// What is stored has other elements than what is kept.
// CHECK-LABEL: func.func @narrowed(
// CHECK: llvm.alloca
// CHECK: math.tanh
gir.kernel @narrowed(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f16, [M, N]> out)
    dims(%M : [0, 100], %N : [0, 100]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %h = gir.unary "tanh" %t : !gir.tile<l1, f32, [1, N]>
  %sum = gir.reduce "add" "cols" %h : !gir.tile<l1, f32, [1, N]>
  %b = gir.broadcast %sum like %h : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %s = gir.binary "mul" %h, %b : !gir.tile<l1, f32, [1, N]>
  %r = gir.cast "truncf" %s : !gir.tile<l1, f32, [1, N]> -> !gir.tile<l1, f16, [1, N]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f16, [M, N]> -> !gir.slice<dram, f16, [1, N]>
  gir.store %r, %to : !gir.tile<l1, f16, [1, N]>, !gir.slice<dram, f16, [1, N]>
}

// Two slices of the same elements: the last store of a kernel may write what it reads.
// CHECK-LABEL: func.func @same_elements(
// CHECK: arith.negf
gir.kernel @same_elements(%y : !gir.view<dram, f32, [M, 64]> inout) dims(%M : [0, 4096]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  %r = gir.unary "neg" %t : !gir.tile<l1, f32, [1, 64]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  gir.store %r, %to : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}
