// x86-64 with AVX-512 and AMX, whose registers hold tiles of matrices: Intel since Sapphire Rapids.
//
// Eight registers have 16 rows of 64 bytes each. An instruction multiplies two of them and adds to a third: rows of the left one have
// places of the sum one after another, rows of the right one have the places of 32 bits of all 16 columns. Nothing else computes with
// them: sums go through memory near to vectors. A tile of 32x32 sums takes four registers, and two for each factor. Products of bytes
// are exact, whatever their signs. Those of bf16 take numbers below the normal ones as zero, and make zero of such results.
//
// Of others it is what x86_avx512 says.
// Sizes and speeds are those of a common server core.
// The register tile holds 24 of 32 registers as sums, 2 of the right operand, and broadcasts the left one from memory. The
// narrow one is for products of at most 16 columns, the low ones for those of few rows: half as high, it computes fewer rows
// that do not exist; the 8 sums of 4 rows just hide the latency of the addition, so they take as long as a single row would.

target.machine @x86_amx {
  summary = "x86-64 with AVX-512 (F, BW, CD, DQ, VL, VNNI, BF16) and AMX (TILE, INT8, BF16)", triple = "x86_64-unknown-linux-gnu",
  features = "+amx-bf16,+amx-int8,+amx-tile,+avx,+avx2,+avx512bf16,+avx512bw,+avx512cd,+avx512dq,+avx512f,+avx512vl,+avx512vnni,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+popcnt,+sse3,+sse4.1,+sse4.2,+ssse3,-prefer-256-bit",
  launch_ns = 5000, gflops = 96
} {
  target.space @vec {class = "reg", owner = "unit", bytes = 2048, vector = 64, align = 64}
  target.space @tmm {class = "reg", owner = "unit", bytes = 8192, vector = 1024, align = 64}
  target.space @l1 {class = "sram", owner = "unit", bytes = 32768, gbps = 300, align = 64, cached}
  target.space @l2 {class = "sram", owner = "unit", bytes = 1048576, gbps = 100, align = 64, cached}
  target.space @l3 {class = "sram", owner = "all", bytes = 33554432, gbps = 30, align = 64, cached}
  target.space @dram {class = "dram", owner = "all", gbps = 12, align = 64, stream = 8388608}

  target.intrinsic @fma_f32_12x32(%a : !gir.tile<vec, f32, [12, K]>, %b : !gir.tile<vec, f32, [K, 32]>, %c : !gir.tile<vec, f32, [12, 32]>) emit("vector.fma") extents({K = array<i64: 4, 2, 1>}) {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [12, K]>, !gir.tile<vec, f32, [K, 32]>, !gir.tile<vec, f32, [12, 32]>
    gir.yield %r : !gir.tile<vec, f32, [12, 32]>
  }

  target.intrinsic @fma_f32_12x16(%a : !gir.tile<vec, f32, [12, K]>, %b : !gir.tile<vec, f32, [K, 16]>, %c : !gir.tile<vec, f32, [12, 16]>) emit("vector.fma") extents({K = array<i64: 4, 2, 1>}) {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [12, K]>, !gir.tile<vec, f32, [K, 16]>, !gir.tile<vec, f32, [12, 16]>
    gir.yield %r : !gir.tile<vec, f32, [12, 16]>
  }

  target.intrinsic @fma_f32_6x32(%a : !gir.tile<vec, f32, [6, K]>, %b : !gir.tile<vec, f32, [K, 32]>, %c : !gir.tile<vec, f32, [6, 32]>) emit("vector.fma") extents({K = array<i64: 4, 2, 1>}) {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [6, K]>, !gir.tile<vec, f32, [K, 32]>, !gir.tile<vec, f32, [6, 32]>
    gir.yield %r : !gir.tile<vec, f32, [6, 32]>
  }

  target.intrinsic @fma_f32_4x32(%a : !gir.tile<vec, f32, [4, K]>, %b : !gir.tile<vec, f32, [K, 32]>, %c : !gir.tile<vec, f32, [4, 32]>) emit("vector.fma") extents({K = array<i64: 4, 2, 1>}) {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [4, K]>, !gir.tile<vec, f32, [K, 32]>, !gir.tile<vec, f32, [4, 32]>
    gir.yield %r : !gir.tile<vec, f32, [4, 32]>
  }

  target.intrinsic @tdpbusd(%a : !gir.tile<tmm, i8, [M, 64]>, %b : !gir.tile<tmm, i8, [16, 64*N]>, %c : !gir.tile<tmm, i32, [M, 16*N]>)
      emit("llvm.x86.tdpbusd.internal") extents({M = array<i64: 32, 16, 4, 1>, N = array<i64: 2, 1>}) {
    %r = gir.contract %a, %b, %c {unsigned_lhs, interleave = 4} : !gir.tile<tmm, i8, [M, 64]>, !gir.tile<tmm, i8, [16, 64*N]>, !gir.tile<tmm, i32, [M, 16*N]>
    gir.yield %r : !gir.tile<tmm, i32, [M, 16*N]>
  }

  target.intrinsic @tdpbsud(%a : !gir.tile<tmm, i8, [M, 64]>, %b : !gir.tile<tmm, i8, [16, 64*N]>, %c : !gir.tile<tmm, i32, [M, 16*N]>)
      emit("llvm.x86.tdpbsud.internal") extents({M = array<i64: 32, 16, 4, 1>, N = array<i64: 2, 1>}) {
    %r = gir.contract %a, %b, %c {unsigned_rhs, interleave = 4} : !gir.tile<tmm, i8, [M, 64]>, !gir.tile<tmm, i8, [16, 64*N]>, !gir.tile<tmm, i32, [M, 16*N]>
    gir.yield %r : !gir.tile<tmm, i32, [M, 16*N]>
  }

  target.intrinsic @tdpbssd(%a : !gir.tile<tmm, i8, [M, 64]>, %b : !gir.tile<tmm, i8, [16, 64*N]>, %c : !gir.tile<tmm, i32, [M, 16*N]>)
      emit("llvm.x86.tdpbssd.internal") extents({M = array<i64: 32, 16, 4, 1>, N = array<i64: 2, 1>}) {
    %r = gir.contract %a, %b, %c {interleave = 4} : !gir.tile<tmm, i8, [M, 64]>, !gir.tile<tmm, i8, [16, 64*N]>, !gir.tile<tmm, i32, [M, 16*N]>
    gir.yield %r : !gir.tile<tmm, i32, [M, 16*N]>
  }

  target.intrinsic @tdpbuud(%a : !gir.tile<tmm, i8, [M, 64]>, %b : !gir.tile<tmm, i8, [16, 64*N]>, %c : !gir.tile<tmm, i32, [M, 16*N]>)
      emit("llvm.x86.tdpbuud.internal") extents({M = array<i64: 32, 16, 4, 1>, N = array<i64: 2, 1>}) {
    %r = gir.contract %a, %b, %c {unsigned_lhs, unsigned_rhs, interleave = 4} : !gir.tile<tmm, i8, [M, 64]>, !gir.tile<tmm, i8, [16, 64*N]>, !gir.tile<tmm, i32, [M, 16*N]>
    gir.yield %r : !gir.tile<tmm, i32, [M, 16*N]>
  }

  target.intrinsic @tdpbf16ps(%a : !gir.tile<tmm, bf16, [M, 32]>, %b : !gir.tile<tmm, bf16, [16, 32*N]>, %c : !gir.tile<tmm, f32, [M, 16*N]>)
      emit("llvm.x86.tdpbf16ps.internal") numerics("subnormal factors and results are zero; even and odd places of a tile are summed apart and then added, each step rounded to nearest even") extents({M = array<i64: 32, 16, 4, 1>, N = array<i64: 2, 1>}) {
    %r = gir.contract %a, %b, %c {interleave = 2} : !gir.tile<tmm, bf16, [M, 32]>, !gir.tile<tmm, bf16, [16, 32*N]>, !gir.tile<tmm, f32, [M, 16*N]>
    gir.yield %r : !gir.tile<tmm, f32, [M, 16*N]>
  }
}
