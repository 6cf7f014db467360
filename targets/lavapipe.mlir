// Mesa's lavapipe: Vulkan on the processor, for tests without a GPU.
//
// A unit is a subgroup of 8 invocations, which run as one vector of AVX2. The workgroup's memory lies in the processor's cache.
// Tiles of products are low: Mesa's compiler takes long for large functions.

target.machine @lavapipe {
  summary = "Mesa's lavapipe, Vulkan on the processor", triple = "spirv64-unknown-vulkan1.2", subgroup = 8,
  features = "",
  launch_ns = 20000, gflops = 50
} {
  target.space @vec {class = "reg", owner = "unit", bytes = 4096, vector = 128, align = 16}
  target.space @l1 {class = "sram", owner = "unit", bytes = 16384, gbps = 100, align = 16, cached}
  target.space @shared {class = "sram", owner = "group", bytes = 32768, gbps = 100, align = 16, managed}
  target.space @dram {class = "dram", owner = "all", gbps = 12, align = 256}

  target.intrinsic @fma_f32_8x32(%a : !gir.tile<vec, f32, [8, 1]>, %b : !gir.tile<vec, f32, [1, 32]>, %c : !gir.tile<vec, f32, [8, 32]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [8, 1]>, !gir.tile<vec, f32, [1, 32]>, !gir.tile<vec, f32, [8, 32]>
    gir.yield %r : !gir.tile<vec, f32, [8, 32]>
  }

  target.intrinsic @fma_f32_8x16(%a : !gir.tile<vec, f32, [8, 1]>, %b : !gir.tile<vec, f32, [1, 16]>, %c : !gir.tile<vec, f32, [8, 16]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [8, 1]>, !gir.tile<vec, f32, [1, 16]>, !gir.tile<vec, f32, [8, 16]>
    gir.yield %r : !gir.tile<vec, f32, [8, 16]>
  }

  target.intrinsic @fma_f32_8x8(%a : !gir.tile<vec, f32, [8, 1]>, %b : !gir.tile<vec, f32, [1, 8]>, %c : !gir.tile<vec, f32, [8, 8]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [8, 1]>, !gir.tile<vec, f32, [1, 8]>, !gir.tile<vec, f32, [8, 8]>
    gir.yield %r : !gir.tile<vec, f32, [8, 8]>
  }

  target.intrinsic @fma_f32_4x32x4(%a : !gir.tile<vec, f32, [4, 4]>, %b : !gir.tile<vec, f32, [4, 32]>, %c : !gir.tile<vec, f32, [4, 32]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [4, 4]>, !gir.tile<vec, f32, [4, 32]>, !gir.tile<vec, f32, [4, 32]>
    gir.yield %r : !gir.tile<vec, f32, [4, 32]>
  }

  target.intrinsic @fma_f32_4x16x4(%a : !gir.tile<vec, f32, [4, 4]>, %b : !gir.tile<vec, f32, [4, 16]>, %c : !gir.tile<vec, f32, [4, 16]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [4, 4]>, !gir.tile<vec, f32, [4, 16]>, !gir.tile<vec, f32, [4, 16]>
    gir.yield %r : !gir.tile<vec, f32, [4, 16]>
  }

  target.intrinsic @fma_f32_8x32x4(%a : !gir.tile<vec, f32, [8, 4]>, %b : !gir.tile<vec, f32, [4, 32]>, %c : !gir.tile<vec, f32, [8, 32]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [8, 4]>, !gir.tile<vec, f32, [4, 32]>, !gir.tile<vec, f32, [8, 32]>
    gir.yield %r : !gir.tile<vec, f32, [8, 32]>
  }

  target.intrinsic @fma_f32_8x16x4(%a : !gir.tile<vec, f32, [8, 4]>, %b : !gir.tile<vec, f32, [4, 16]>, %c : !gir.tile<vec, f32, [8, 16]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [8, 4]>, !gir.tile<vec, f32, [4, 16]>, !gir.tile<vec, f32, [8, 16]>
    gir.yield %r : !gir.tile<vec, f32, [8, 16]>
  }
}
