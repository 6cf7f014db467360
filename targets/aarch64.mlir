// Any 64-bit Arm: NEON, which has fused multiplication and addition.
//
// Sizes and speeds are those of a common server core. The register tile holds 24 of 32 registers as sums, 2 of the right
// operand, and one of the left. The narrow one is for products of at most 4 columns, the low one for those of few rows.

target.machine @aarch64 {
  summary = "64-bit Arm with NEON", triple = "aarch64-unknown-linux-gnu",
  features = "+neon",
  launch_ns = 5000, gflops = 40
} {
  target.space @vec {class = "reg", owner = "unit", bytes = 512, vector = 16, align = 16}
  target.space @l1 {class = "sram", owner = "unit", bytes = 65536, gbps = 100, align = 64, cached}
  target.space @l2 {class = "sram", owner = "unit", bytes = 1048576, gbps = 50, align = 64, cached}
  target.space @l3 {class = "sram", owner = "all", bytes = 33554432, gbps = 25, align = 64, cached}
  target.space @dram {class = "dram", owner = "all", gbps = 12, align = 64}

  target.intrinsic @fma_f32_12x8(%a : !gir.tile<vec, f32, [12, 1]>, %b : !gir.tile<vec, f32, [1, 8]>, %c : !gir.tile<vec, f32, [12, 8]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [12, 1]>, !gir.tile<vec, f32, [1, 8]>, !gir.tile<vec, f32, [12, 8]>
    gir.yield %r : !gir.tile<vec, f32, [12, 8]>
  }

  target.intrinsic @fma_f32_12x4(%a : !gir.tile<vec, f32, [12, 1]>, %b : !gir.tile<vec, f32, [1, 4]>, %c : !gir.tile<vec, f32, [12, 4]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [12, 1]>, !gir.tile<vec, f32, [1, 4]>, !gir.tile<vec, f32, [12, 4]>
    gir.yield %r : !gir.tile<vec, f32, [12, 4]>
  }

  target.intrinsic @fma_f32_4x8(%a : !gir.tile<vec, f32, [4, 1]>, %b : !gir.tile<vec, f32, [1, 8]>, %c : !gir.tile<vec, f32, [4, 8]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [4, 1]>, !gir.tile<vec, f32, [1, 8]>, !gir.tile<vec, f32, [4, 8]>
    gir.yield %r : !gir.tile<vec, f32, [4, 8]>
  }
}
