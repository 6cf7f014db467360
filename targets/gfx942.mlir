// AMD Instinct MI300: 304 compute units in an MI300X.
//
// A unit is a wavefront: its register tiles are spread over 64 lanes with up to 128 registers for them, its vectors are 16 bytes a
// lane. The workgroup's memory is the LDS that one may have. The memory's speed is the data sheet's, those of
// caches and of the block's memory are estimates.
// What compute units hold is from AMD's instruction set guides and LLVM's tables: a quarter of the registers has those of 8 wavefronts
// at most, and blocks of several wavefronts need one of 16 barriers.

target.machine @gfx942 {
  summary = "AMD CDNA 3 (MI300)", triple = "amdgcn-amd-amdhsa", chip = "gfx942", subgroup = 64,
  features = "",
  launch_ns = 5000, gflops = 81700
} {
  target.space @vec {class = "reg", owner = "unit", bytes = 32768, vector = 1024, align = 16}
  target.space @l1 {class = "sram", owner = "unit", bytes = 32768, gbps = 40000, align = 16, cached}
  target.space @shared {class = "sram", owner = "group", bytes = 65536, gbps = 40000, align = 16, managed}
  target.space @l2 {class = "sram", owner = "all", bytes = 268435456, gbps = 17000, align = 16, cached}
  target.space @dram {class = "dram", owner = "all", gbps = 5300, align = 256}

  target.processor {count = 304, parts = 4, registers = 131072, granule = 512, threads = 2048, blocks = 32, barriers = 16, bytes = 65536}

  target.intrinsic @fma_f32_8x128(%a : !gir.tile<vec, f32, [8, 1]>, %b : !gir.tile<vec, f32, [1, 128]>, %c : !gir.tile<vec, f32, [8, 128]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [8, 1]>, !gir.tile<vec, f32, [1, 128]>, !gir.tile<vec, f32, [8, 128]>
    gir.yield %r : !gir.tile<vec, f32, [8, 128]>
  }

  target.intrinsic @fma_f32_8x64(%a : !gir.tile<vec, f32, [8, 1]>, %b : !gir.tile<vec, f32, [1, 64]>, %c : !gir.tile<vec, f32, [8, 64]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [8, 1]>, !gir.tile<vec, f32, [1, 64]>, !gir.tile<vec, f32, [8, 64]>
    gir.yield %r : !gir.tile<vec, f32, [8, 64]>
  }

  target.intrinsic @fma_f32_16x128x4(%a : !gir.tile<vec, f32, [16, 4]>, %b : !gir.tile<vec, f32, [4, 128]>, %c : !gir.tile<vec, f32, [16, 128]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [16, 4]>, !gir.tile<vec, f32, [4, 128]>, !gir.tile<vec, f32, [16, 128]>
    gir.yield %r : !gir.tile<vec, f32, [16, 128]>
  }

  target.intrinsic @fma_f32_16x64x4(%a : !gir.tile<vec, f32, [16, 4]>, %b : !gir.tile<vec, f32, [4, 64]>, %c : !gir.tile<vec, f32, [16, 64]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [16, 4]>, !gir.tile<vec, f32, [4, 64]>, !gir.tile<vec, f32, [16, 64]>
    gir.yield %r : !gir.tile<vec, f32, [16, 64]>
  }

  target.intrinsic @fma_f32_8x128x4(%a : !gir.tile<vec, f32, [8, 4]>, %b : !gir.tile<vec, f32, [4, 128]>, %c : !gir.tile<vec, f32, [8, 128]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [8, 4]>, !gir.tile<vec, f32, [4, 128]>, !gir.tile<vec, f32, [8, 128]>
    gir.yield %r : !gir.tile<vec, f32, [8, 128]>
  }

  target.intrinsic @fma_f32_8x64x4(%a : !gir.tile<vec, f32, [8, 4]>, %b : !gir.tile<vec, f32, [4, 64]>, %c : !gir.tile<vec, f32, [8, 64]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [8, 4]>, !gir.tile<vec, f32, [4, 64]>, !gir.tile<vec, f32, [8, 64]>
    gir.yield %r : !gir.tile<vec, f32, [8, 64]>
  }
}
