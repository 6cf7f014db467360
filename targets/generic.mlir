// What every x86-64 has: SSE2. There is no fused multiplication and addition: `expand-fma` computes that of the expansions in
// doubles, to the same bits, and rounds twice in products.

target.machine @generic {
  summary = "any x86-64", triple = "x86_64-unknown-linux-gnu",
  features = "",
  launch_ns = 5000, gflops = 12
} {
  target.space @vec {class = "reg", owner = "unit", bytes = 256, vector = 16, align = 16}
  target.space @l1 {class = "sram", owner = "unit", bytes = 32768, gbps = 100, align = 64, cached}
  target.space @l2 {class = "sram", owner = "unit", bytes = 262144, gbps = 40, align = 64, cached}
  target.space @dram {class = "dram", owner = "all", gbps = 10, align = 64}

  target.intrinsic @fma_f32_4x8(%a : !gir.tile<vec, f32, [4, 1]>, %b : !gir.tile<vec, f32, [1, 8]>, %c : !gir.tile<vec, f32, [4, 8]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [4, 1]>, !gir.tile<vec, f32, [1, 8]>, !gir.tile<vec, f32, [4, 8]>
    gir.yield %r : !gir.tile<vec, f32, [4, 8]>
  }

  target.intrinsic @fma_f32_4x4(%a : !gir.tile<vec, f32, [4, 1]>, %b : !gir.tile<vec, f32, [1, 4]>, %c : !gir.tile<vec, f32, [4, 4]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [4, 1]>, !gir.tile<vec, f32, [1, 4]>, !gir.tile<vec, f32, [4, 4]>
    gir.yield %r : !gir.tile<vec, f32, [4, 4]>
  }
}
