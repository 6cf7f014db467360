// Registers that only multiply are loaded from memory, multiplied, and stored there.

// RUN: sutura-opt %s --split-input-file --convert-gir-to-cpu --verify-diagnostics | FileCheck %s

target.machine @m {triple = "x86_64-linux-gnu", features = "+amx-bf16,+avx512f"} {
  target.space @vec {class = "reg", owner = "unit", bytes = 2048, vector = 64}
  target.space @tmm {class = "reg", owner = "unit", bytes = 8192, vector = 1024}
  target.space @dram {class = "dram", owner = "all"}
  target.intrinsic @mul(%a : !gir.tile<tmm, bf16, [M, 32]>, %b : !gir.tile<tmm, bf16, [16, 32*N]>, %c : !gir.tile<tmm, f32, [M, 16*N]>)
      emit("llvm.x86.tdpbf16ps.internal") extents({M = array<i64: 32, 17, 4>, N = array<i64: 2, 1>}) {
    %r = gir.contract %a, %b, %c {interleave = 2} : !gir.tile<tmm, bf16, [M, 32]>, !gir.tile<tmm, bf16, [16, 32*N]>, !gir.tile<tmm, f32, [M, 16*N]>
    gir.yield %r : !gir.tile<tmm, f32, [M, 16*N]>
  }
}

// Tiles are grids of registers: of the sums two by two, of each factor two.
// CHECK-LABEL: func.func @whole
// CHECK-DAG: %[[ROWS:.*]] = arith.constant 16 : i16
// CHECK-DAG: %[[BYTES:.*]] = arith.constant 64 : i16
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.tilezero.internal"(%{{.*}}, %{{.*}}) : (i16, i16) -> !llvm.x86_amx
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.tileloadd64.internal"({{.*}}) : (i16, i16, !llvm.ptr, i64) -> !llvm.x86_amx
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.tdpbf16ps.internal"({{.*}}) : (i16, i16, i16, !llvm.x86_amx, !llvm.x86_amx, !llvm.x86_amx) -> !llvm.x86_amx
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.tilestored64.internal"({{.*}}) : (i16, i16, !llvm.ptr, i64, !llvm.x86_amx) -> ()
// CHECK-NOT: scf.for
gir.kernel @whole(%x : !gir.view<dram, bf16, [32, 32]> in, %w : !gir.view<dram, bf16, [16, 64]> in, %y : !gir.view<dram, f32, [32, 32]> out)
    dims() grid(%i = 1) units(1) {
  %zero = arith.constant 0 : index
  %c = gir.fill 0.0 : f32 : !gir.tile<tmm, f32, [32, 32]>
  %as = gir.slice %x[%zero, %zero] rows(0) cols(1) : !gir.view<dram, bf16, [32, 32]> -> !gir.slice<dram, bf16, [32, 32]>
  %a = gir.load %as : !gir.slice<dram, bf16, [32, 32]> -> !gir.tile<tmm, bf16, [32, 32]>
  %bs = gir.slice %w[%zero, %zero] rows(0) cols(1) : !gir.view<dram, bf16, [16, 64]> -> !gir.slice<dram, bf16, [16, 64]>
  %b = gir.load %bs : !gir.slice<dram, bf16, [16, 64]> -> !gir.tile<tmm, bf16, [16, 64]>
  %r = gir.intrinsic @mul(%a, %b, %c) : (!gir.tile<tmm, bf16, [32, 32]>, !gir.tile<tmm, bf16, [16, 64]>, !gir.tile<tmm, f32, [32, 32]>) -> !gir.tile<tmm, f32, [32, 32]>
  %out = gir.slice %y[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [32, 32]> -> !gir.slice<dram, f32, [32, 32]>
  gir.store %r, %out : !gir.tile<tmm, f32, [32, 32]>, !gir.slice<dram, f32, [32, 32]>
}

// Few rows take a register that is as low.
// CHECK-LABEL: func.func @low
// CHECK: %[[ROWS:.*]] = arith.constant 4 : i16
// CHECK: llvm.call_intrinsic "llvm.x86.tilezero.internal"(%[[ROWS]], %{{.*}})
gir.kernel @low(%x : !gir.view<dram, bf16, [4, 32]> in, %w : !gir.view<dram, bf16, [16, 32]> in, %y : !gir.view<dram, f32, [4, 16]> out)
    dims() grid(%i = 1) units(1) {
  %zero = arith.constant 0 : index
  %c = gir.fill 0.0 : f32 : !gir.tile<tmm, f32, [4, 16]>
  %as = gir.slice %x[%zero, %zero] rows(0) cols(1) : !gir.view<dram, bf16, [4, 32]> -> !gir.slice<dram, bf16, [4, 32]>
  %a = gir.load %as : !gir.slice<dram, bf16, [4, 32]> -> !gir.tile<tmm, bf16, [4, 32]>
  %bs = gir.slice %w[%zero, %zero] rows(0) cols(1) : !gir.view<dram, bf16, [16, 32]> -> !gir.slice<dram, bf16, [16, 32]>
  %b = gir.load %bs : !gir.slice<dram, bf16, [16, 32]> -> !gir.tile<tmm, bf16, [16, 32]>
  %r = gir.intrinsic @mul(%a, %b, %c) : (!gir.tile<tmm, bf16, [4, 32]>, !gir.tile<tmm, bf16, [16, 32]>, !gir.tile<tmm, f32, [4, 16]>) -> !gir.tile<tmm, f32, [4, 16]>
  %out = gir.slice %y[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [4, 16]> -> !gir.slice<dram, f32, [4, 16]>
  gir.store %r, %out : !gir.tile<tmm, f32, [4, 16]>, !gir.slice<dram, f32, [4, 16]>
}

// Rows that do not exist are zero in scratch, and sums of such rows stay there.
// CHECK-LABEL: func.func @partial
// CHECK-COUNT-2: llvm.alloca
// CHECK: scf.for
// CHECK: scf.if
// CHECK: llvm.load {{.*}} -> vector<16xi32>
// CHECK: llvm.store {{.*}} vector<16xi32>
// CHECK: tileloadd64
// CHECK: tdpbf16ps
// CHECK: tilestored64
// CHECK: scf.for
// CHECK: scf.if
// CHECK: llvm.store
gir.kernel @partial(%x : !gir.view<dram, bf16, [R, 32]> in, %w : !gir.view<dram, bf16, [16, 32]> in, %y : !gir.view<dram, f32, [R, 16]> out)
    dims(%R : [1, 4]) grid(%i = 1) units(1) {
  %zero = arith.constant 0 : index
  %c = gir.fill 0.0 : f32 : !gir.tile<tmm, f32, [4, 16]>
  %as = gir.slice %x[%zero, %zero] rows(0) cols(1) : !gir.view<dram, bf16, [R, 32]> -> !gir.slice<dram, bf16, [4, 32]>
  %a = gir.load %as pad(0.0 : bf16) : !gir.slice<dram, bf16, [4, 32]> -> !gir.tile<tmm, bf16, [4, 32]>
  %bs = gir.slice %w[%zero, %zero] rows(0) cols(1) : !gir.view<dram, bf16, [16, 32]> -> !gir.slice<dram, bf16, [16, 32]>
  %b = gir.load %bs : !gir.slice<dram, bf16, [16, 32]> -> !gir.tile<tmm, bf16, [16, 32]>
  %r = gir.intrinsic @mul(%a, %b, %c) : (!gir.tile<tmm, bf16, [4, 32]>, !gir.tile<tmm, bf16, [16, 32]>, !gir.tile<tmm, f32, [4, 16]>) -> !gir.tile<tmm, f32, [4, 16]>
  %out = gir.slice %y[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [R, 16]> -> !gir.slice<dram, f32, [4, 16]>
  gir.store %r, %out : !gir.tile<tmm, f32, [4, 16]>, !gir.slice<dram, f32, [4, 16]>
}

// -----

target.machine @m {triple = "x86_64-linux-gnu", features = "+amx-bf16,+avx512f"} {
  target.space @vec {class = "reg", owner = "unit", bytes = 2048, vector = 64}
  target.space @tmm {class = "reg", owner = "unit", bytes = 8192, vector = 1024}
  target.space @dram {class = "dram", owner = "all"}
  target.intrinsic @mul(%a : !gir.tile<tmm, bf16, [M, 32]>, %b : !gir.tile<tmm, bf16, [16, 32*N]>, %c : !gir.tile<tmm, f32, [M, 16*N]>)
      emit("llvm.x86.tdpbf16ps.internal") extents({M = array<i64: 32, 17, 4>, N = array<i64: 2, 1>}) {
    %r = gir.contract %a, %b, %c {interleave = 2} : !gir.tile<tmm, bf16, [M, 32]>, !gir.tile<tmm, bf16, [16, 32*N]>, !gir.tile<tmm, f32, [M, 16*N]>
    gir.yield %r : !gir.tile<tmm, f32, [M, 16*N]>
  }
}

// Registers of a tile have equal heights.
// expected-note @+1 {{in kernel @tall}}
gir.kernel @tall(%x : !gir.view<dram, bf16, [17, 32]> in, %w : !gir.view<dram, bf16, [16, 32]> in, %y : !gir.view<dram, f32, [17, 16]> out)
    dims() grid(%i = 1) units(1) {
  %zero = arith.constant 0 : index
  // expected-error @+1 {{a tile of 17x16 elements does not fill registers of up to 16 rows of 64 bytes}}
  %c = gir.fill 0.0 : f32 : !gir.tile<tmm, f32, [17, 16]>
  %as = gir.slice %x[%zero, %zero] rows(0) cols(1) : !gir.view<dram, bf16, [17, 32]> -> !gir.slice<dram, bf16, [17, 32]>
  %a = gir.load %as : !gir.slice<dram, bf16, [17, 32]> -> !gir.tile<tmm, bf16, [17, 32]>
  %bs = gir.slice %w[%zero, %zero] rows(0) cols(1) : !gir.view<dram, bf16, [16, 32]> -> !gir.slice<dram, bf16, [16, 32]>
  %b = gir.load %bs : !gir.slice<dram, bf16, [16, 32]> -> !gir.tile<tmm, bf16, [16, 32]>
  %r = gir.intrinsic @mul(%a, %b, %c) : (!gir.tile<tmm, bf16, [17, 32]>, !gir.tile<tmm, bf16, [16, 32]>, !gir.tile<tmm, f32, [17, 16]>) -> !gir.tile<tmm, f32, [17, 16]>
  %out = gir.slice %y[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [17, 16]> -> !gir.slice<dram, f32, [17, 16]>
  gir.store %r, %out : !gir.tile<tmm, f32, [17, 16]>, !gir.slice<dram, f32, [17, 16]>
}

// -----

target.machine @m {triple = "x86_64-linux-gnu", features = "+amx-bf16,+avx512f"} {
  target.space @vec {class = "reg", owner = "unit", bytes = 2048, vector = 64}
  target.space @tmm {class = "reg", owner = "unit", bytes = 8192, vector = 1024}
  target.space @dram {class = "dram", owner = "all"}
  target.intrinsic @mul(%a : !gir.tile<tmm, bf16, [M, 32]>, %b : !gir.tile<tmm, bf16, [16, 32*N]>, %c : !gir.tile<tmm, f32, [M, 16*N]>)
      emit("llvm.x86.tdpbf16ps.internal") extents({M = array<i64: 32, 17, 4>, N = array<i64: 2, 1>}) {
    %r = gir.contract %a, %b, %c {interleave = 2} : !gir.tile<tmm, bf16, [M, 32]>, !gir.tile<tmm, bf16, [16, 32*N]>, !gir.tile<tmm, f32, [M, 16*N]>
    gir.yield %r : !gir.tile<tmm, f32, [M, 16*N]>
  }
}

// Sums begin with zero.
// expected-note @+1 {{in kernel @one}}
gir.kernel @one(%x : !gir.view<dram, bf16, [4, 32]> in, %w : !gir.view<dram, bf16, [16, 32]> in, %y : !gir.view<dram, f32, [4, 16]> out)
    dims() grid(%i = 1) units(1) {
  %zero = arith.constant 0 : index
  // expected-error @+1 {{registers that only multiply begin with zero}}
  %c = gir.fill 1.0 : f32 : !gir.tile<tmm, f32, [4, 16]>
  %as = gir.slice %x[%zero, %zero] rows(0) cols(1) : !gir.view<dram, bf16, [4, 32]> -> !gir.slice<dram, bf16, [4, 32]>
  %a = gir.load %as : !gir.slice<dram, bf16, [4, 32]> -> !gir.tile<tmm, bf16, [4, 32]>
  %bs = gir.slice %w[%zero, %zero] rows(0) cols(1) : !gir.view<dram, bf16, [16, 32]> -> !gir.slice<dram, bf16, [16, 32]>
  %b = gir.load %bs : !gir.slice<dram, bf16, [16, 32]> -> !gir.tile<tmm, bf16, [16, 32]>
  %r = gir.intrinsic @mul(%a, %b, %c) : (!gir.tile<tmm, bf16, [4, 32]>, !gir.tile<tmm, bf16, [16, 32]>, !gir.tile<tmm, f32, [4, 16]>) -> !gir.tile<tmm, f32, [4, 16]>
  %out = gir.slice %y[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [4, 16]> -> !gir.slice<dram, f32, [4, 16]>
  gir.store %r, %out : !gir.tile<tmm, f32, [4, 16]>, !gir.slice<dram, f32, [4, 16]>
}

// -----

target.machine @m {triple = "x86_64-linux-gnu", features = "+amx-bf16,+avx512f"} {
  target.space @vec {class = "reg", owner = "unit", bytes = 2048, vector = 64}
  target.space @tmm {class = "reg", owner = "unit", bytes = 8192, vector = 1024}
  target.space @dram {class = "dram", owner = "all"}
  target.intrinsic @mul(%a : !gir.tile<tmm, bf16, [M, 32]>, %b : !gir.tile<tmm, bf16, [16, 32*N]>, %c : !gir.tile<tmm, f32, [M, 16*N]>)
      emit("llvm.x86.tdpbf16ps.internal") extents({M = array<i64: 32, 17, 4>, N = array<i64: 2, 1>}) {
    %r = gir.contract %a, %b, %c {interleave = 2} : !gir.tile<tmm, bf16, [M, 32]>, !gir.tile<tmm, bf16, [16, 32*N]>, !gir.tile<tmm, f32, [M, 16*N]>
    gir.yield %r : !gir.tile<tmm, f32, [M, 16*N]>
  }
}

// Rows that do not exist would be read.
// expected-note @+1 {{in kernel @unpadded}}
gir.kernel @unpadded(%x : !gir.view<dram, bf16, [R, 32]> in, %w : !gir.view<dram, bf16, [16, 32]> in, %y : !gir.view<dram, f32, [R, 16]> out)
    dims(%R : [1, 4]) grid(%i = 1) units(1) {
  %zero = arith.constant 0 : index
  %c = gir.fill 0.0 : f32 : !gir.tile<tmm, f32, [4, 16]>
  %as = gir.slice %x[%zero, %zero] rows(0) cols(1) : !gir.view<dram, bf16, [R, 32]> -> !gir.slice<dram, bf16, [4, 32]>
  // expected-error @+1 {{rows of a tile that is multiplied may not exist, and are not zero there}}
  %a = gir.load %as : !gir.slice<dram, bf16, [4, 32]> -> !gir.tile<tmm, bf16, [4, 32]>
  %bs = gir.slice %w[%zero, %zero] rows(0) cols(1) : !gir.view<dram, bf16, [16, 32]> -> !gir.slice<dram, bf16, [16, 32]>
  %b = gir.load %bs : !gir.slice<dram, bf16, [16, 32]> -> !gir.tile<tmm, bf16, [16, 32]>
  %r = gir.intrinsic @mul(%a, %b, %c) : (!gir.tile<tmm, bf16, [4, 32]>, !gir.tile<tmm, bf16, [16, 32]>, !gir.tile<tmm, f32, [4, 16]>) -> !gir.tile<tmm, f32, [4, 16]>
  %out = gir.slice %y[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [R, 16]> -> !gir.slice<dram, f32, [4, 16]>
  gir.store %r, %out : !gir.tile<tmm, f32, [4, 16]>, !gir.slice<dram, f32, [4, 16]>
}

// -----

target.machine @m {triple = "x86_64-linux-gnu", features = "+amx-bf16,+avx512f"} {
  target.space @vec {class = "reg", owner = "unit", bytes = 2048, vector = 64}
  target.space @tmm {class = "reg", owner = "unit", bytes = 8192, vector = 1024}
  target.space @dram {class = "dram", owner = "all"}
  target.intrinsic @mul(%a : !gir.tile<tmm, bf16, [M, 32]>, %b : !gir.tile<tmm, bf16, [16, 32*N]>, %c : !gir.tile<tmm, f32, [M, 16*N]>)
      emit("llvm.x86.tdpbf16ps.internal") extents({M = array<i64: 32, 17, 4>, N = array<i64: 2, 1>}) {
    %r = gir.contract %a, %b, %c {interleave = 2} : !gir.tile<tmm, bf16, [M, 32]>, !gir.tile<tmm, bf16, [16, 32*N]>, !gir.tile<tmm, f32, [M, 16*N]>
    gir.yield %r : !gir.tile<tmm, f32, [M, 16*N]>
  }
}

// Nothing else computes with them.
// expected-note @+1 {{in kernel @negated}}
gir.kernel @negated(%x : !gir.view<dram, bf16, [4, 32]> in, %w : !gir.view<dram, bf16, [16, 32]> in, %y : !gir.view<dram, f32, [4, 16]> out)
    dims() grid(%i = 1) units(1) {
  %zero = arith.constant 0 : index
  %c = gir.fill 0.0 : f32 : !gir.tile<tmm, f32, [4, 16]>
  %as = gir.slice %x[%zero, %zero] rows(0) cols(1) : !gir.view<dram, bf16, [4, 32]> -> !gir.slice<dram, bf16, [4, 32]>
  %a = gir.load %as : !gir.slice<dram, bf16, [4, 32]> -> !gir.tile<tmm, bf16, [4, 32]>
  %bs = gir.slice %w[%zero, %zero] rows(0) cols(1) : !gir.view<dram, bf16, [16, 32]> -> !gir.slice<dram, bf16, [16, 32]>
  %b = gir.load %bs : !gir.slice<dram, bf16, [16, 32]> -> !gir.tile<tmm, bf16, [16, 32]>
  %r = gir.intrinsic @mul(%a, %b, %c) : (!gir.tile<tmm, bf16, [4, 32]>, !gir.tile<tmm, bf16, [16, 32]>, !gir.tile<tmm, f32, [4, 16]>) -> !gir.tile<tmm, f32, [4, 16]>
  // expected-error @+1 {{computes with registers that only an intrinsic for products of matrices computes with}}
  %n = gir.unary "neg" %r : !gir.tile<tmm, f32, [4, 16]>
  %out = gir.slice %y[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [4, 16]> -> !gir.slice<dram, f32, [4, 16]>
  gir.store %n, %out : !gir.tile<tmm, f32, [4, 16]>, !gir.slice<dram, f32, [4, 16]>
}
