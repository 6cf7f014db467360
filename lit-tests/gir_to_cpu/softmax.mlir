// RUN: sutura-opt %s --gir-cache-hints --convert-gir-to-cpu=vector-bytes=64 | FileCheck %s
// RUN: sutura-opt %s --gir-cache-hints --convert-gir-to-cpu=vector-bytes=16 | FileCheck %s --check-prefix=NARROW

// Three loops, one per run between reductions; the exponentials lie in the output's row until the last loop scales them.
// CHECK-LABEL: func.func @softmax(
// CHECK-SAME: !llvm.ptr{{.*}}!llvm.ptr{{.*}}i64{{.*}}i64
// CHECK-NOT: llvm.alloca
// CHECK: scf.for
// CHECK: arith.maximumf {{.*}} : vector<16xf32>
// CHECK: vector.shuffle
// CHECK: scf.for
// CHECK: %[[EXP:.*]] = math.exp {{.*}} {gir.nonpositive} : vector<16xf32>
// CHECK: %[[KEPT:.*]] = llvm.getelementptr %[[ROW:.*]][%{{.*}}] :
// CHECK-NEXT: llvm.store %[[EXP]], %[[KEPT]]
// CHECK: llvm.intr.masked.load
// CHECK: arith.addf
// CHECK: llvm.intr.masked.store
// CHECK: scf.for
// CHECK-NOT: math.exp
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[ROW]][%[[COL:.*]]] :
// CHECK-NEXT: llvm.load %[[AT]]
// CHECK: arith.divf
// CHECK: %[[TO:.*]] = llvm.getelementptr %[[ROW]][%[[COL]]] :
// CHECK-NEXT: llvm.store %{{.*}}, %[[TO]]
// CHECK: llvm.intr.masked.store
// NARROW: math.exp {{.*}} : vector<4xf32>
gir.kernel @softmax(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 2147483647], %N : [1, 8192]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %in = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %in : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %m = gir.reduce "max" "cols" %t : !gir.tile<l1, f32, [1, N]>
  %mb = gir.broadcast %m like %t : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %d = gir.binary "sub" %t, %mb : !gir.tile<l1, f32, [1, N]>
  %e = gir.unary "exp" %d : !gir.tile<l1, f32, [1, N]>
  %s = gir.reduce "add" "cols" %e : !gir.tile<l1, f32, [1, N]>
  %sb = gir.broadcast %s like %e : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %r = gir.binary "div" %e, %sb : !gir.tile<l1, f32, [1, N]>
  %out = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %r, %out : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

// Without a bound on the columns there is no scratch for what a third loop needs: the exponentials are computed twice where
// the output cannot hold them, as it is not of their type.
// CHECK-LABEL: func.func @unbounded(
// CHECK-NOT: llvm.alloca
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: math.exp
// CHECK: arith.divf
// CHECK: arith.truncf
gir.kernel @unbounded(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f16, [M, N]> out)
    dims(%M : [0, 2147483647], %N : [1, 2147483647]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %in = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %in : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %e = gir.unary "exp" %t : !gir.tile<l1, f32, [1, N]>
  %s = gir.reduce "add" "cols" %e : !gir.tile<l1, f32, [1, N]>
  %sb = gir.broadcast %s like %e : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %r = gir.binary "div" %e, %sb : !gir.tile<l1, f32, [1, N]>
  %h = gir.cast "truncf" %r : !gir.tile<l1, f32, [1, N]> -> !gir.tile<l1, f16, [1, N]>
  %out = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f16, [M, N]> -> !gir.slice<dram, f16, [1, N]>
  gir.store %h, %out : !gir.tile<l1, f16, [1, N]>, !gir.slice<dram, f16, [1, N]>
}
