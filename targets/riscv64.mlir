// Any 64-bit RISC-V that runs a usual Linux: RV64GC, with floats in registers of their own and fused multiplication and addition, and
// without vectors, which are taken apart into numbers.
//
// Sizes and speeds are those of a common board. The register tile holds 16 of 32 registers as sums, 4 of the right operand, and one
// of the left.

target.machine @riscv64 {
  summary = "64-bit RISC-V, RV64GC", triple = "riscv64-unknown-linux-gnu",
  features = "+m,+a,+f,+d,+c",
  launch_ns = 5000, gflops = 2
} {
  target.space @vec {class = "reg", owner = "unit", bytes = 512, vector = 16, align = 16}
  target.space @l1 {class = "sram", owner = "unit", bytes = 32768, gbps = 20, align = 64, cached}
  target.space @l2 {class = "sram", owner = "all", bytes = 2097152, gbps = 8, align = 64, cached}
  target.space @dram {class = "dram", owner = "all", gbps = 4, align = 64}

  target.intrinsic @fma_f32_4x4(%a : !gir.tile<vec, f32, [4, 1]>, %b : !gir.tile<vec, f32, [1, 4]>, %c : !gir.tile<vec, f32, [4, 4]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [4, 1]>, !gir.tile<vec, f32, [1, 4]>, !gir.tile<vec, f32, [4, 4]>
    gir.yield %r : !gir.tile<vec, f32, [4, 4]>
  }
}
