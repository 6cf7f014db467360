// NVIDIA A100: 108 multiprocessors.
//
// A unit is a warp: its register tiles are spread over 32 threads with up to 128 registers for them, its vectors are 16 bytes a
// thread. The block's memory is what a kernel may have without asking for more. The memory's speed is the data sheet's, those of
// caches and of the block's memory are estimates.
// What multiprocessors hold is from the CUDA programming guide's table of compute capabilities; each block takes 1 KiB beside its own.

target.machine @sm_80 {
  summary = "NVIDIA Ampere (A100)", triple = "nvptx64-nvidia-cuda", chip = "sm_80", subgroup = 32, async_copy = "nvvm.cp.async",
  features = "+ptx78",
  launch_ns = 3000, gflops = 19500
} {
  target.space @vec {class = "reg", owner = "unit", bytes = 16384, vector = 512, align = 16}
  target.space @l1 {class = "sram", owner = "unit", bytes = 32768, gbps = 19000, align = 16, cached}
  target.space @shared {class = "sram", owner = "group", bytes = 49152, gbps = 19000, align = 16, managed}
  target.space @l2 {class = "sram", owner = "all", bytes = 41943040, gbps = 5000, align = 16, cached}
  target.space @dram {class = "dram", owner = "all", gbps = 1935, align = 256}

  target.processor {count = 108, parts = 4, registers = 65536, granule = 256, threads = 2048, blocks = 32, bytes = 167936, reserved = 1024}

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
