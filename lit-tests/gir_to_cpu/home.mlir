// A tile lies where `gir.home` says; where it cannot, in scratch, with a remark.

// RUN: sutura-opt %s --convert-gir-to-cpu=vector-bytes=32 --verify-diagnostics --remarks-filter=convert-gir-to-cpu | FileCheck %s
// RUN: sutura-opt %s --convert-gir-to-gpu | FileCheck %s --check-prefix=GPU

// On a GPU a tile lies where it would without.
// GPU-COUNT-5: gpu.func @

// Cheap tiles are computed anew where they are needed, but not where they have a home.
// CHECK-LABEL: func.func @cheap(
// CHECK-NOT: llvm.alloca
// CHECK: arith.negf
// CHECK: arith.mulf
// CHECK-NOT: arith.negf
// CHECK: return
gir.kernel @cheap(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out) // expected-remark {{kernel @cheap is a function now}}
    dims(%M : [0, 100], %N : [0, 100]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %n = gir.unary "neg" %t : !gir.tile<l1, f32, [1, N]>
  %h = gir.home %n, %to : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
  %sum = gir.reduce "add" "cols" %h : !gir.tile<l1, f32, [1, N]>
  %b = gir.broadcast %sum like %h : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %r = gir.binary "mul" %h, %b : !gir.tile<l1, f32, [1, N]>
  gir.store %r, %to : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

// CHECK-LABEL: func.func @largest(
// CHECK: llvm.alloca
gir.kernel @largest(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out) // expected-remark {{kernel @largest is a function now}}
    dims(%M : [0, 100], %N : [1, 100]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %e = gir.unary "tanh" %t : !gir.tile<l1, f32, [1, N]>
  // expected-remark @below {{the tile lies in scratch, not in the output: the loop that computes it finds an extreme, for which it may run again}}
  %h = gir.home %e, %to : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
  %max = gir.reduce "max" "cols" %h : !gir.tile<l1, f32, [1, N]>
  %b = gir.broadcast %max like %h : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %r = gir.binary "sub" %h, %b : !gir.tile<l1, f32, [1, N]>
  gir.store %r, %to : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

// CHECK-LABEL: func.func @several(
// CHECK: llvm.alloca
gir.kernel @several(%x : !gir.view<dram, f32, [2, N]> in, %y : !gir.view<dram, f32, [2, N]> out) // expected-remark {{kernel @several is a function now}}
    dims(%N : [0, 100]) grid(%i = 1) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [2, N]> -> !gir.slice<dram, f32, [2, N]>
  %t = gir.load %from : !gir.slice<dram, f32, [2, N]> -> !gir.tile<l1, f32, [2, N]>
  %to = gir.slice %y[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [2, N]> -> !gir.slice<dram, f32, [2, N]>
  %e = gir.unary "tanh" %t : !gir.tile<l1, f32, [2, N]>
  // expected-remark @below {{the tile lies in scratch, not in the output: it has several rows}}
  %h = gir.home %e, %to : !gir.tile<l1, f32, [2, N]>, !gir.slice<dram, f32, [2, N]>
  %sum = gir.reduce "add" "cols" %h : !gir.tile<l1, f32, [2, N]>
  %b = gir.broadcast %sum like %h : !gir.tile<l1, f32, [2, 1]>, !gir.tile<l1, f32, [2, N]>
  %r = gir.binary "mul" %h, %b : !gir.tile<l1, f32, [2, N]>
  gir.store %r, %to : !gir.tile<l1, f32, [2, N]>, !gir.slice<dram, f32, [2, N]>
}

// The last group has a part of a row. The others have whole ones, which lie in the output.
// CHECK-LABEL: func.func @masked(
// CHECK-COUNT-1: llvm.alloca %{{.*}} x f32
// CHECK-NOT: llvm.alloca %{{.*}} x f32
// CHECK: return
gir.kernel @masked(%x : !gir.view<dram, f32, [N]> in, %y : !gir.view<dram, f32, [N]> out) // expected-remark {{kernel @masked is a function now}}
    dims(%N : [0, 1000]) grid(%i = (N + 63) floordiv 64) units(1) {
  %at = gir.index affine_map<(d0) -> (d0 * 64)>(%i)
  %from = gir.slice %x[%at] cols(0) : !gir.view<dram, f32, [N]> -> !gir.slice<dram, f32, [1, 64]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  %to = gir.slice %y[%at] cols(0) : !gir.view<dram, f32, [N]> -> !gir.slice<dram, f32, [1, 64]>
  %e = gir.unary "tanh" %t : !gir.tile<l1, f32, [1, 64]>
  // expected-remark @below {{the tile lies in scratch, not in the output: in some groups a part of it lies outside}}
  %h = gir.home %e, %to : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
  %sum = gir.reduce "add" "cols" %h : !gir.tile<l1, f32, [1, 64]>
  %b = gir.broadcast %sum like %h : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, 64]>
  %r = gir.binary "mul" %h, %b : !gir.tile<l1, f32, [1, 64]>
  gir.store %r, %to : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}

// What is read again with the store is no matter: views do not overlap. Two rows have a home each.
// CHECK-LABEL: func.func @two(
// CHECK-NOT: llvm.alloca
// CHECK: return
gir.kernel @two(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out, %z : !gir.view<dram, f32, [M, N]> out) // expected-remark {{kernel @two is a function now}}
    dims(%M : [0, 100], %N : [0, 100]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %ys = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %zs = gir.slice %z[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %e = gir.unary "tanh" %t : !gir.tile<l1, f32, [1, N]>
  %h = gir.home %e, %ys : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
  %f = gir.unary "exp" %t : !gir.tile<l1, f32, [1, N]>
  %g = gir.home %f, %zs : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
  %a = gir.reduce "add" "cols" %h : !gir.tile<l1, f32, [1, N]>
  %c = gir.reduce "add" "cols" %g : !gir.tile<l1, f32, [1, N]>
  %ab = gir.broadcast %a like %h : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %cb = gir.broadcast %c like %g : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %r = gir.binary "mul" %h, %ab : !gir.tile<l1, f32, [1, N]>
  %s = gir.binary "mul" %g, %cb : !gir.tile<l1, f32, [1, N]>
  %u = gir.binary "add" %s, %t : !gir.tile<l1, f32, [1, N]>
  gir.store %r, %ys : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
  gir.store %u, %zs : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}
