// Data that is checked: a kernel has the words in which it reports behind its buffers, and the number of its first check behind
// its sizes. The report that comes first by check and position stays; where it is known already, it is made in full.
// RUN: sutura-opt %s --convert-gir-to-gpu="threads=32" | FileCheck %s

// CHECK-LABEL: gpu.func @rows(
// CHECK-SAME:    %{{[a-z0-9]+}}: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %{{[a-z0-9]+}}: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %{{[a-z0-9]+}}: !llvm.ptr<1> {llvm.noalias}, %[[WORDS:[a-z0-9]+]]: !llvm.ptr<1>, %{{[a-z0-9]+}}: i64, %[[SIZE:[a-z0-9]+]]: i64, %[[FIRST:[a-z0-9]+]]: i64)
// CHECK-SAME:    checks = [{kind = "index", what = "words"}]
// CHECK:         %[[GIVEN:.+]] = llvm.load %{{.*}} : !llvm.ptr<1> -> i64
// CHECK:         %[[IS_ONE:.+]] = arith.cmpi ult, %[[INDEX:.+]], %[[SIZE]] : i64
// CHECK-NEXT:    scf.if %[[IS_ONE]] {
// CHECK-NEXT:    } else {
// CHECK:           %[[CHECK:.+]] = arith.addi %[[FIRST]], %{{.*}} : i64
// CHECK:           %[[HIGH:.+]] = arith.shli %[[CHECK]], %c48{{.*}} : i64
// CHECK-NEXT:      %[[LOW:.+]] = arith.addi %{{.*}}, %c1{{.*}} : i64
// CHECK-NEXT:      %[[KEY:.+]] = arith.addi %[[HIGH]], %[[LOW]] : i64
// CHECK-NEXT:      %[[BEFORE:.+]] = llvm.atomicrmw umin %[[WORDS]], %[[KEY]] monotonic {alignment = 8 : i64} : !llvm.ptr<1>, i64
// CHECK-NEXT:      %[[KNOWN:.+]] = arith.cmpi eq, %[[BEFORE]], %[[KEY]] : i64
// CHECK-NEXT:      scf.if %[[KNOWN]] {
// CHECK:             llvm.atomicrmw xchg %{{.*}}, %[[GIVEN]] monotonic
// CHECK:             llvm.atomicrmw xchg %{{.*}}, %[[SIZE]] monotonic
// What is read is never out of bounds.
// CHECK:         arith.select %[[IS_ONE]], %[[INDEX]], %{{.*}} : i64
gir.kernel @rows(%w : !gir.view<dram, f32, [V, 8]> in, %i : !gir.view<dram, i64, [N]> in, %y : !gir.view<dram, f32, [N, 8]> out)
    dims(%N : [0, 100], %V : [1, 100]) grid(%n = N) units(1) {
  %zero = arith.constant 0 : index
  %is = gir.slice %i[%n] : !gir.view<dram, i64, [N]> -> !gir.slice<dram, i64, [1, 1]>
  %t = gir.load %is : !gir.slice<dram, i64, [1, 1]> -> !gir.tile<vec, i64, [1, 1]>
  %at = gir.pick "words" %t below %V at %n : !gir.tile<vec, i64, [1, 1]>
  %ws = gir.slice %w[%at, %zero] cols(1) : !gir.view<dram, f32, [V, 8]> -> !gir.slice<dram, f32, [1, 8]>
  %row = gir.load %ws : !gir.slice<dram, f32, [1, 8]> -> !gir.tile<l1, f32, [1, 8]>
  %ys = gir.slice %y[%n, %zero] cols(1) : !gir.view<dram, f32, [N, 8]> -> !gir.slice<dram, f32, [1, 8]>
  gir.store %row, %ys : !gir.tile<l1, f32, [1, 8]>, !gir.slice<dram, f32, [1, 8]>
}
