// Any device of Vulkan 1.2 with addresses of buffers whose subgroups have 32 invocations: those of NVIDIA, AMD's RDNA, and of Intel where
// the size of subgroups can be chosen.
//
// A unit is a subgroup: its register tiles are spread over 32 invocations. The workgroup's memory is what two thirds of devices
// have at least. Speeds are those of a graphics card of the middle.

target.machine @vulkan {
  summary = "any device of Vulkan 1.2, subgroups of 32", triple = "spirv64-unknown-vulkan1.2", subgroup = 32,
  features = "",
  launch_ns = 10000, gflops = 10000
} {
  target.space @vec {class = "reg", owner = "unit", bytes = 16384, vector = 512, align = 16}
  target.space @l1 {class = "sram", owner = "unit", bytes = 16384, gbps = 5000, align = 16, cached}
  target.space @shared {class = "sram", owner = "group", bytes = 32768, gbps = 5000, align = 16, managed}
  target.space @dram {class = "dram", owner = "all", gbps = 300, align = 256}

  target.intrinsic @fma_f32_8x128(%a : !gir.tile<vec, f32, [8, 1]>, %b : !gir.tile<vec, f32, [1, 128]>, %c : !gir.tile<vec, f32, [8, 128]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [8, 1]>, !gir.tile<vec, f32, [1, 128]>, !gir.tile<vec, f32, [8, 128]>
    gir.yield %r : !gir.tile<vec, f32, [8, 128]>
  }

  target.intrinsic @fma_f32_8x64(%a : !gir.tile<vec, f32, [8, 1]>, %b : !gir.tile<vec, f32, [1, 64]>, %c : !gir.tile<vec, f32, [8, 64]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [8, 1]>, !gir.tile<vec, f32, [1, 64]>, !gir.tile<vec, f32, [8, 64]>
    gir.yield %r : !gir.tile<vec, f32, [8, 64]>
  }

  target.intrinsic @fma_f32_8x32(%a : !gir.tile<vec, f32, [8, 1]>, %b : !gir.tile<vec, f32, [1, 32]>, %c : !gir.tile<vec, f32, [8, 32]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [8, 1]>, !gir.tile<vec, f32, [1, 32]>, !gir.tile<vec, f32, [8, 32]>
    gir.yield %r : !gir.tile<vec, f32, [8, 32]>
  }

  target.intrinsic @fma_f32_16x128x4(%a : !gir.tile<vec, f32, [16, 4]>, %b : !gir.tile<vec, f32, [4, 128]>, %c : !gir.tile<vec, f32, [16, 128]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [16, 4]>, !gir.tile<vec, f32, [4, 128]>, !gir.tile<vec, f32, [16, 128]>
    gir.yield %r : !gir.tile<vec, f32, [16, 128]>
  }

  target.intrinsic @fma_f32_16x64x4(%a : !gir.tile<vec, f32, [16, 4]>, %b : !gir.tile<vec, f32, [4, 64]>, %c : !gir.tile<vec, f32, [16, 64]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [16, 4]>, !gir.tile<vec, f32, [4, 64]>, !gir.tile<vec, f32, [16, 64]>
    gir.yield %r : !gir.tile<vec, f32, [16, 64]>
  }

  target.intrinsic @fma_f32_16x32x4(%a : !gir.tile<vec, f32, [16, 4]>, %b : !gir.tile<vec, f32, [4, 32]>, %c : !gir.tile<vec, f32, [16, 32]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [16, 4]>, !gir.tile<vec, f32, [4, 32]>, !gir.tile<vec, f32, [16, 32]>
    gir.yield %r : !gir.tile<vec, f32, [16, 32]>
  }

  target.intrinsic @fma_f32_8x128x4(%a : !gir.tile<vec, f32, [8, 4]>, %b : !gir.tile<vec, f32, [4, 128]>, %c : !gir.tile<vec, f32, [8, 128]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [8, 4]>, !gir.tile<vec, f32, [4, 128]>, !gir.tile<vec, f32, [8, 128]>
    gir.yield %r : !gir.tile<vec, f32, [8, 128]>
  }

  target.intrinsic @fma_f32_8x64x4(%a : !gir.tile<vec, f32, [8, 4]>, %b : !gir.tile<vec, f32, [4, 64]>, %c : !gir.tile<vec, f32, [8, 64]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [8, 4]>, !gir.tile<vec, f32, [4, 64]>, !gir.tile<vec, f32, [8, 64]>
    gir.yield %r : !gir.tile<vec, f32, [8, 64]>
  }

  target.intrinsic @fma_f32_8x32x4(%a : !gir.tile<vec, f32, [8, 4]>, %b : !gir.tile<vec, f32, [4, 32]>, %c : !gir.tile<vec, f32, [8, 32]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [8, 4]>, !gir.tile<vec, f32, [4, 32]>, !gir.tile<vec, f32, [8, 32]>
    gir.yield %r : !gir.tile<vec, f32, [8, 32]>
  }
}
