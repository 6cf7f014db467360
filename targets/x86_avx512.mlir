// x86-64 with AVX-512: servers since Skylake-SP, clients since Ice Lake, AMD since Zen 4.
//
// Sizes and speeds are those of a common server core.
// The register tile holds 24 of 32 registers as sums, 2 of the right operand, and broadcasts the left one from memory. The
// narrow one is for products of at most 16 columns, the low ones for those of few rows: half as high, it computes fewer rows
// that do not exist; the 8 sums of 4 rows just hide the latency of the addition, so they take as long as a single row would.

target.machine @x86_avx512 {
  summary = "x86-64 with AVX-512 (F, BW, CD, DQ, VL)", triple = "x86_64-unknown-linux-gnu",
  features = "+avx,+avx2,+avx512bw,+avx512cd,+avx512dq,+avx512f,+avx512vl,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+popcnt,+sse3,+sse4.1,+sse4.2,+ssse3,-prefer-256-bit",
  launch_ns = 5000, gflops = 96
} {
  target.space @vec {class = "reg", owner = "unit", bytes = 2048, vector = 64, align = 64}
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
}
