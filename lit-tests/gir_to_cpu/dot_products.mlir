// Dot products take words: what a row of the left factor has, and what lies column by column in the right one.

// RUN: sutura-opt %s --split-input-file --convert-gir-to-cpu --verify-diagnostics | FileCheck %s

target.machine @m {triple = "x86_64-linux-gnu", features = "+avx512vnni"} {
  target.space @vec {class = "reg", owner = "unit", bytes = 2048, vector = 64}
  target.space @dram {class = "dram", owner = "all"}
  target.intrinsic @dot(%a : !gir.tile<vec, i8, [2, 4]>, %b : !gir.tile<vec, i8, [4, 16]>, %c : !gir.tile<vec, i32, [2, 16]>)
      emit("llvm.x86.avx512.vpdpbusd.512") order("acc, rhs, lhs") {
    %r = gir.contract %a, %b, %c {unsigned_rhs} : !gir.tile<vec, i8, [2, 4]>, !gir.tile<vec, i8, [4, 16]>, !gir.tile<vec, i32, [2, 16]>
    gir.yield %r : !gir.tile<vec, i32, [2, 16]>
  }
}

// A word of each row is a number that all lanes get; the right factor comes first, as the description says.
// CHECK-LABEL: func.func @words
// CHECK-COUNT-2: llvm.load {{.*}} {alignment = 1 : i64} : !llvm.ptr -> i32
// CHECK: %[[B:.*]] = llvm.load {{.*}} : !llvm.ptr -> vector<16xi32>
// CHECK: %[[R:.*]] = vector.bitcast %[[B]] : vector<16xi32> to vector<64xi8>
// CHECK: %[[A:.*]] = vector.broadcast {{.*}} : i32 to vector<16xi32>
// CHECK: %[[L:.*]] = vector.bitcast %[[A]] : vector<16xi32> to vector<64xi8>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%{{.*}}, %[[R]], %[[L]])
gir.kernel @words(%x : !gir.view<dram, i8, [2, 4]> in, %w : !gir.view<dram, i8, [16, 4]> in, %y : !gir.view<dram, i32, [2, 16]> out)
    dims() grid(%i = 1) units(1) {
  %zero = arith.constant 0 : index
  %c = gir.fill 0 : i32 : !gir.tile<vec, i32, [2, 16]>
  %as = gir.slice %x[%zero, %zero] rows(0) cols(1) : !gir.view<dram, i8, [2, 4]> -> !gir.slice<dram, i8, [2, 4]>
  %a = gir.load %as : !gir.slice<dram, i8, [2, 4]> -> !gir.tile<vec, i8, [2, 4]>
  %bs = gir.slice %w[%zero, %zero] rows(1) cols(0) : !gir.view<dram, i8, [16, 4]> -> !gir.slice<dram, i8, [4, 16]>
  %b = gir.load %bs : !gir.slice<dram, i8, [4, 16]> -> !gir.tile<vec, i8, [4, 16]>
  %r = gir.intrinsic @dot(%a, %b, %c) : (!gir.tile<vec, i8, [2, 4]>, !gir.tile<vec, i8, [4, 16]>, !gir.tile<vec, i32, [2, 16]>) -> !gir.tile<vec, i32, [2, 16]>
  %out = gir.slice %y[%zero, %zero] rows(0) cols(1) : !gir.view<dram, i32, [2, 16]> -> !gir.slice<dram, i32, [2, 16]>
  gir.store %r, %out : !gir.tile<vec, i32, [2, 16]>, !gir.slice<dram, i32, [2, 16]>
}

// -----

target.machine @m {triple = "x86_64-linux-gnu", features = "+avx512vnni"} {
  target.space @vec {class = "reg", owner = "unit", bytes = 2048, vector = 64}
  target.space @dram {class = "dram", owner = "all"}
  target.intrinsic @dot(%a : !gir.tile<vec, i8, [1, 4]>, %b : !gir.tile<vec, i8, [4, 16]>, %c : !gir.tile<vec, i32, [1, 16]>)
      emit("llvm.x86.avx512.vpdpbusd.512") {
    %r = gir.contract %a, %b, %c {unsigned_lhs} : !gir.tile<vec, i8, [1, 4]>, !gir.tile<vec, i8, [4, 16]>, !gir.tile<vec, i32, [1, 16]>
    gir.yield %r : !gir.tile<vec, i32, [1, 16]>
  }
}

// Places of the sum lie a row apart: no words.
// expected-note @+1 {{in kernel @apart}}
gir.kernel @apart(%x : !gir.view<dram, i8, [1, 4]> in, %w : !gir.view<dram, i8, [4, 16]> in, %y : !gir.view<dram, i32, [1, 16]> out)
    dims() grid(%i = 1) units(1) {
  %zero = arith.constant 0 : index
  %c = gir.fill 0 : i32 : !gir.tile<vec, i32, [1, 16]>
  %as = gir.slice %x[%zero, %zero] cols(1) : !gir.view<dram, i8, [1, 4]> -> !gir.slice<dram, i8, [1, 4]>
  %a = gir.load %as : !gir.slice<dram, i8, [1, 4]> -> !gir.tile<vec, i8, [1, 4]>
  %bs = gir.slice %w[%zero, %zero] rows(0) cols(1) : !gir.view<dram, i8, [4, 16]> -> !gir.slice<dram, i8, [4, 16]>
  // expected-error @+1 {{what a dot product sums does not lie side by side in memory, 4 by 4}}
  %b = gir.load %bs : !gir.slice<dram, i8, [4, 16]> -> !gir.tile<vec, i8, [4, 16]>
  %r = gir.intrinsic @dot(%a, %b, %c) : (!gir.tile<vec, i8, [1, 4]>, !gir.tile<vec, i8, [4, 16]>, !gir.tile<vec, i32, [1, 16]>) -> !gir.tile<vec, i32, [1, 16]>
  %out = gir.slice %y[%zero, %zero] cols(1) : !gir.view<dram, i32, [1, 16]> -> !gir.slice<dram, i32, [1, 16]>
  gir.store %r, %out : !gir.tile<vec, i32, [1, 16]>, !gir.slice<dram, i32, [1, 16]>
}

// -----

target.machine @m {triple = "x86_64-linux-gnu", features = ""} {
  target.space @vec {class = "reg", owner = "unit", bytes = 2048, vector = 64}
  target.space @dram {class = "dram", owner = "all"}
  // One that saturates is known to no one.
  target.intrinsic @dot(%a : !gir.tile<vec, i8, [1, 4]>, %b : !gir.tile<vec, i8, [4, 16]>, %c : !gir.tile<vec, i32, [1, 16]>)
      emit("llvm.x86.avx512.vpdpbusds.512") {
    %r = gir.contract %a, %b, %c {unsigned_lhs} : !gir.tile<vec, i8, [1, 4]>, !gir.tile<vec, i8, [4, 16]>, !gir.tile<vec, i32, [1, 16]>
    gir.yield %r : !gir.tile<vec, i32, [1, 16]>
  }
}

// expected-note @+1 {{in kernel @unknown}}
gir.kernel @unknown(%y : !gir.view<dram, i32, [1, 16]> out)
    dims() grid(%i = 1) units(1) {
  %zero = arith.constant 0 : index
  %a = gir.fill 1 : i8 : !gir.tile<vec, i8, [1, 4]>
  %b = gir.fill 1 : i8 : !gir.tile<vec, i8, [4, 16]>
  %c = gir.fill 0 : i32 : !gir.tile<vec, i32, [1, 16]>
  // expected-error @+1 {{a CPU has no instruction 'llvm.x86.avx512.vpdpbusds.512' for @dot}}
  %r = gir.intrinsic @dot(%a, %b, %c) : (!gir.tile<vec, i8, [1, 4]>, !gir.tile<vec, i8, [4, 16]>, !gir.tile<vec, i32, [1, 16]>) -> !gir.tile<vec, i32, [1, 16]>
  %out = gir.slice %y[%zero, %zero] cols(1) : !gir.view<dram, i32, [1, 16]> -> !gir.slice<dram, i32, [1, 16]>
  gir.store %r, %out : !gir.tile<vec, i32, [1, 16]>, !gir.slice<dram, i32, [1, 16]>
}
