// RUN: sutura-opt %s --convert-gir-to-cpu | FileCheck %s
// RUN: sutura-opt %s --convert-gir-to-cpu | sutura-opt --verify-roundtrip -o /dev/null

target.machine @m {triple = "x86_64-unknown-linux-gnu", features = "+avx512f"} {
  target.space @vec {class = "reg", owner = "unit", bytes = 2048, vector = 64}
  target.space @l1 {class = "sram", owner = "unit", bytes = 32768, align = 64, cached}
  target.space @l2 {class = "sram", owner = "unit", bytes = 1048576, align = 64, cached}
  target.space @dram {class = "dram", owner = "all", stream = 65536}
}

// The kernels say which stores may wait; whether there is a loop that can take them is seen when loops are made.

// The loop that stores is put off to the next group, whose loop with the exponentials stores what the scratch holds of this
// group before it overwrites it; in a launch that is not large, the output holds it. The number by which this group's row is
// scaled waits in a slot meanwhile.
// CHECK-LABEL: func.func @softmax(
// CHECK: %[[KEPT:.*]] = llvm.alloca %{{.*}} x f32 {alignment = 64 : i64}
// CHECK: %[[PENDING:.*]] = llvm.alloca %{{.*}} x i1
// CHECK: llvm.store %false, %[[PENDING]]
// CHECK: %[[ROW:.*]] = llvm.alloca %{{.*}} x !llvm.ptr
// CHECK: %[[LARGE:.*]] = arith.cmpi sge
// CHECK: %[[HERE:.*]] = arith.select %[[LARGE]], %[[KEPT]], %{{.*}} : !llvm.ptr
// CHECK: %[[BEFORE:.*]] = llvm.load %[[PENDING]] {{.*}} -> i1
// CHECK: scf.if %[[BEFORE]] -> (vector<16xf32>) {
// CHECK: %[[SCALE:.*]] = llvm.load %{{.*}} -> f32
// CHECK: %[[TO:.*]] = llvm.load %[[ROW]] {{.*}} -> !llvm.ptr
// CHECK: scf.for %[[COL:[a-z0-9]+]] =
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[HERE]][%[[COL]]]
// CHECK: %[[OLD:.*]] = llvm.load %[[AT]] {{.*}} -> vector<16xf32>
// CHECK: %[[SCALES:.*]] = vector.broadcast %[[SCALE]]
// CHECK: %[[LAST:.*]] = arith.mulf %[[OLD]], %[[SCALES]]
// CHECK: %[[OUT:.*]] = llvm.getelementptr %[[TO]][%[[COL]]]
// CHECK: llvm.store %[[LAST]], %[[OUT]] {alignment = 64 : i64, nontemporal}
// CHECK: %[[EXP:.*]] = math.exp
// CHECK: %[[SAME:.*]] = llvm.getelementptr %[[HERE]][%[[COL]]]
// CHECK: llvm.store %[[EXP]], %[[SAME]]
// CHECK: } else {
// CHECK-NOT: nontemporal
// CHECK: math.exp
// CHECK: %[[ALIGNED:.*]] = arith.cmpi eq
// CHECK: %[[PUT_OFF:.*]] = arith.andi %{{.*}}, %[[ALIGNED]] : i1
// CHECK-NEXT: llvm.store %[[PUT_OFF]], %[[PENDING]]
// CHECK: scf.if %[[PUT_OFF]] {
// CHECK-NEXT: llvm.store %{{.*}} : f32, !llvm.ptr
// CHECK-NEXT: llvm.store %{{.*}}, %[[ROW]]
// CHECK: } else {
// CHECK: nontemporal
gir.kernel @softmax(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 4096], %N : [0, 4096]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %max = gir.reduce "max" "cols" %t : !gir.tile<l1, f32, [1, N]>
  %m = gir.broadcast %max like %t : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %d = gir.binary "sub" %t, %m : !gir.tile<l1, f32, [1, N]>
  %e = gir.unary "exp" %d : !gir.tile<l1, f32, [1, N]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %h = gir.home %e, %to : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
  %sum = gir.reduce "add" "cols" %h : !gir.tile<l1, f32, [1, N]>
  %one = gir.fill 1.000000e+00 : f32 : !gir.tile<vec, f32, [1, 1]>
  %s = gir.move %sum : !gir.tile<l1, f32, [1, 1]> -> !gir.tile<vec, f32, [1, 1]>
  %inv = gir.binary "div" %one, %s : !gir.tile<vec, f32, [1, 1]>
  %b = gir.broadcast %inv like %h : !gir.tile<vec, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %r = gir.binary "mul" %h, %b : !gir.tile<l1, f32, [1, N]>
  gir.store %r, %to stream when(8*M*N - 65536) defer : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

// What the last loop reads from memory would have to be kept for it: it runs at once.
// CHECK-LABEL: func.func @reads_again(
// CHECK-NOT: x i1 {
// CHECK: return
gir.kernel @reads_again(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 4096], %N : [0, 4096]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %sum = gir.reduce "add" "cols" %t : !gir.tile<l1, f32, [1, N]>
  %b = gir.broadcast %sum like %t : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %r = gir.binary "sub" %t, %b : !gir.tile<l1, f32, [1, N]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %r, %to stream when(8*M*N - 65536) defer : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

// Two stores come after the loop that keeps, and a host takes one.
// CHECK-LABEL: func.func @two_stores(
// CHECK-NOT: x i1 {
// CHECK: return
gir.kernel @two_stores(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out,
    %z : !gir.view<dram, f32, [M, N]> out) dims(%M : [0, 4096], %N : [0, 4096]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %e = gir.unary "exp" %t : !gir.tile<l1, f32, [1, N]>
  %sum = gir.reduce "add" "cols" %e : !gir.tile<l1, f32, [1, N]>
  %b = gir.broadcast %sum like %e : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %r = gir.binary "div" %e, %b : !gir.tile<l1, f32, [1, N]>
  %n = gir.unary "neg" %r : !gir.tile<l1, f32, [1, N]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %r, %to stream when(12*M*N - 65536) : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
  %also = gir.slice %z[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %n, %also stream when(12*M*N - 65536) defer : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

// Not where it may not.
// CHECK-LABEL: func.func @at_once(
// CHECK-NOT: x i1 {
// CHECK: nontemporal
// CHECK-NOT: x i1 {
// CHECK: return
gir.kernel @at_once(%x : !gir.view<dram, f32, [M, 64]> in, %y : !gir.view<dram, f32, [M, 64]> out)
    dims(%M : [0, 4096]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  %e = gir.unary "exp" %t : !gir.tile<l1, f32, [1, 64]>
  %sum = gir.reduce "add" "cols" %e : !gir.tile<l1, f32, [1, 64]>
  %b = gir.broadcast %sum like %e : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, 64]>
  %r = gir.binary "div" %e, %b : !gir.tile<l1, f32, [1, 64]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  gir.store %r, %to stream when(512*M - 65536) : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}
