// x86-64 with AVX2 and FMA: Intel since Haswell, AMD since Zen.
//
// The register tile holds 12 of 16 registers as sums, 2 of the right operand, one of the left. The narrow one is for products
// of at most 8 columns. The caches are those that AMD has sold since 2019, where the third is 16 or 32 MiB for four to eight cores;
// of Intel, those without AVX-512 since 2021 have more of the second, older ones half as much of both.

target.machine @x86_avx2 {
  summary = "x86-64 with AVX2 and FMA", triple = "x86_64-unknown-linux-gnu",
  features = "+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+popcnt,+sse3,+sse4.1,+sse4.2,+ssse3",
  launch_ns = 5000, gflops = 48
} {
  target.space @vec {class = "reg", owner = "unit", bytes = 512, vector = 32, align = 32}
  target.space @l1 {class = "sram", owner = "unit", bytes = 32768, gbps = 200, align = 64, cached}
  target.space @l2 {class = "sram", owner = "unit", bytes = 524288, gbps = 60, align = 64, cached}
  target.space @l3 {class = "sram", owner = "all", bytes = 16777216, gbps = 25, align = 64, cached}
  target.space @dram {class = "dram", owner = "all", gbps = 12, align = 64}

  target.intrinsic @fma_f32_6x16(%a : !gir.tile<vec, f32, [6, 1]>, %b : !gir.tile<vec, f32, [1, 16]>, %c : !gir.tile<vec, f32, [6, 16]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [6, 1]>, !gir.tile<vec, f32, [1, 16]>, !gir.tile<vec, f32, [6, 16]>
    gir.yield %r : !gir.tile<vec, f32, [6, 16]>
  }

  target.intrinsic @fma_f32_6x8(%a : !gir.tile<vec, f32, [6, 1]>, %b : !gir.tile<vec, f32, [1, 8]>, %c : !gir.tile<vec, f32, [6, 8]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [6, 1]>, !gir.tile<vec, f32, [1, 8]>, !gir.tile<vec, f32, [6, 8]>
    gir.yield %r : !gir.tile<vec, f32, [6, 8]>
  }

  target.intrinsic @fma_f32_2x16(%a : !gir.tile<vec, f32, [2, 1]>, %b : !gir.tile<vec, f32, [1, 16]>, %c : !gir.tile<vec, f32, [2, 16]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [2, 1]>, !gir.tile<vec, f32, [1, 16]>, !gir.tile<vec, f32, [2, 16]>
    gir.yield %r : !gir.tile<vec, f32, [2, 16]>
  }
}
