// AMD Radeon RX 7900: 96 compute units in an XTX; the larger cache is the Infinity Cache.
//
// A unit is a wavefront: its register tiles are spread over 32 lanes with up to 128 registers for them, its vectors are 16 bytes a
// lane. The workgroup's memory is the LDS that one may have. The memory's speed is the data sheet's, those of
// caches and of the block's memory are estimates.
// What blocks share is that of a workgroup processor, two compute units, from AMD's instruction set guide and LLVM's tables: 16 wavefronts
// of each of four parts, and 32 barriers for blocks of several.

target.machine @gfx1100 {
  summary = "AMD RDNA 3 (RX 7900)", triple = "amdgcn-amd-amdhsa", chip = "gfx1100", subgroup = 32,
  features = "",
  launch_ns = 5000, gflops = 30700
} {
  target.space @vec {class = "reg", owner = "unit", bytes = 16384, vector = 512, align = 16}
  target.space @l1 {class = "sram", owner = "unit", bytes = 32768, gbps = 18000, align = 16, cached}
  target.space @shared {class = "sram", owner = "group", bytes = 65536, gbps = 18000, align = 16, managed}
  target.space @l2 {class = "sram", owner = "all", bytes = 100663296, gbps = 3500, align = 16, cached}
  target.space @dram {class = "dram", owner = "all", gbps = 960, align = 256}

  target.processor {count = 48, parts = 4, registers = 196608, granule = 768, threads = 2048, blocks = 64, barriers = 32, bytes = 131072}

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
