// Tiles in registers without columns, or without rows, have no registers: nothing is read or written, and what combines them is the
// combination's identity.
// RUN: sutura-opt %s --convert-gir-to-gpu=subgroup=32 | FileCheck %s

// CHECK-LABEL: gpu.func @no_columns(
// CHECK-NOT: llvm.load
// CHECK-NOT: gpu.barrier
// CHECK: %[[NOTHING:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NOT: llvm.load
// CHECK-NOT: gpu.barrier
// CHECK: llvm.store %[[NOTHING]], %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<1>
// CHECK-COUNT-3: llvm.store %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<1>
// CHECK-NOT: llvm.{{store|load}}
// CHECK-NOT: gpu.barrier
// CHECK: gpu.return
gir.kernel @no_columns(%x : !gir.view<dram, f32, [4, 0]> in, %y : !gir.view<dram, f32, [4, 0]> out, %sums : !gir.view<dram, f32, [4, 1]> out,
    %turned : !gir.view<dram, f32, [0, 4]> out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [4, 0]> -> !gir.slice<dram, f32, [4, 0]>
  %t = gir.load %from : !gir.slice<dram, f32, [4, 0]> -> !gir.tile<vec, f32, [4, 0]>
  %sum = gir.reduce "add" "cols" %t : !gir.tile<vec, f32, [4, 0]>
  %to = gir.slice %sums[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [4, 1]> -> !gir.slice<dram, f32, [4, 1]>
  gir.store %sum, %to : !gir.tile<vec, f32, [4, 1]>, !gir.slice<dram, f32, [4, 1]>
  %same = gir.broadcast %sum like %t : !gir.tile<vec, f32, [4, 1]>, !gir.tile<vec, f32, [4, 0]>
  %scanned = gir.scan "add" "cols" %same : !gir.tile<vec, f32, [4, 0]>
  %all = gir.slice %y[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [4, 0]> -> !gir.slice<dram, f32, [4, 0]>
  gir.store %scanned, %all : !gir.tile<vec, f32, [4, 0]>, !gir.slice<dram, f32, [4, 0]>
  %down = gir.transpose %t : !gir.tile<vec, f32, [4, 0]>
  %across = gir.slice %turned[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [0, 4]> -> !gir.slice<dram, f32, [0, 4]>
  gir.store %down, %across : !gir.tile<vec, f32, [0, 4]>, !gir.slice<dram, f32, [0, 4]>
}

// CHECK-LABEL: gpu.func @no_rows(
// CHECK-NOT: llvm.{{store|load}}
// CHECK: %[[LOWEST:.+]] = arith.constant dense<0xFF800000> : vector<1xf32>
// CHECK-NOT: llvm.{{store|load}}
// CHECK: llvm.store %[[LOWEST]], %{{.*}} {alignment = 4 : i64} : vector<1xf32>, !llvm.ptr<1>
// CHECK-NOT: llvm.{{store|load}}
// CHECK: gpu.return
gir.kernel @no_rows(%x : !gir.view<dram, f32, [0, 4]> in, %y : !gir.view<dram, f32, [0, 4]> out, %most : !gir.view<dram, f32, [1, 4]> out)
    dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [0, 4]> -> !gir.slice<dram, f32, [0, 4]>
  %t = gir.load %from : !gir.slice<dram, f32, [0, 4]> -> !gir.tile<vec, f32, [0, 4]>
  %scanned = gir.scan "add" "rows" %t : !gir.tile<vec, f32, [0, 4]>
  %to = gir.slice %y[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [0, 4]> -> !gir.slice<dram, f32, [0, 4]>
  gir.store %scanned, %to : !gir.tile<vec, f32, [0, 4]>, !gir.slice<dram, f32, [0, 4]>
  %largest = gir.reduce "max" "rows" %t : !gir.tile<vec, f32, [0, 4]>
  %row = gir.slice %most[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [1, 4]> -> !gir.slice<dram, f32, [1, 4]>
  gir.store %largest, %row : !gir.tile<vec, f32, [1, 4]>, !gir.slice<dram, f32, [1, 4]>
}
