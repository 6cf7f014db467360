// Integers of a register are summed by one op: LLVM 22 makes `vpdpbusd` of a sum of products of bytes with and without sign, and loses
// lanes where halves are added one after the other. Floats are added in an order of their own.
// RUN: sutura-opt %s --convert-gir-to-cpu=vector-bytes=64 | FileCheck %s

// CHECK-LABEL: func.func @integers(
// CHECK: %[[PRODUCTS:.+]] = arith.muli %{{.+}}, %{{.+}} : vector<16xi32>
// CHECK-NOT: vector.shuffle
// CHECK: vector.reduction <add>, %[[PRODUCTS]] : vector<16xi32> into i32
// CHECK-NOT: vector.shuffle
// CHECK: return
gir.kernel @integers(%a : !gir.view<dram, i8, [1, 16]> in, %b : !gir.view<dram, i8, [1, 16]> in, %y : !gir.view<dram, i32, [1, 1]> out)
    dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %from_a = gir.slice %a[%zero, %zero] rows(0) cols(1) : !gir.view<dram, i8, [1, 16]> -> !gir.slice<dram, i8, [1, 16]>
  %x = gir.load %from_a : !gir.slice<dram, i8, [1, 16]> -> !gir.tile<vec, i8, [1, 16]>
  %from_b = gir.slice %b[%zero, %zero] rows(0) cols(1) : !gir.view<dram, i8, [1, 16]> -> !gir.slice<dram, i8, [1, 16]>
  %w = gir.load %from_b : !gir.slice<dram, i8, [1, 16]> -> !gir.tile<vec, i8, [1, 16]>
  %wide_x = gir.cast "extui" %x : !gir.tile<vec, i8, [1, 16]> -> !gir.tile<vec, i32, [1, 16]>
  %wide_w = gir.cast "extsi" %w : !gir.tile<vec, i8, [1, 16]> -> !gir.tile<vec, i32, [1, 16]>
  %products = gir.binary "muli" %wide_x, %wide_w : !gir.tile<vec, i32, [1, 16]>
  %sum = gir.reduce "addi" "cols" %products : !gir.tile<vec, i32, [1, 16]>
  %to = gir.slice %y[%zero, %zero] rows(0) cols(1) : !gir.view<dram, i32, [1, 1]> -> !gir.slice<dram, i32, [1, 1]>
  gir.store %sum, %to : !gir.tile<vec, i32, [1, 1]>, !gir.slice<dram, i32, [1, 1]>
}

// CHECK-LABEL: func.func @floats(
// CHECK: vector.shuffle
// CHECK: return
gir.kernel @floats(%a : !gir.view<dram, f32, [1, 16]> in, %y : !gir.view<dram, f32, [1, 1]> out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %a[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [1, 16]> -> !gir.slice<dram, f32, [1, 16]>
  %x = gir.load %from : !gir.slice<dram, f32, [1, 16]> -> !gir.tile<vec, f32, [1, 16]>
  %sum = gir.reduce "add" "cols" %x : !gir.tile<vec, f32, [1, 16]>
  %to = gir.slice %y[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [1, 1]> -> !gir.slice<dram, f32, [1, 1]>
  gir.store %sum, %to : !gir.tile<vec, f32, [1, 1]>, !gir.slice<dram, f32, [1, 1]>
}
