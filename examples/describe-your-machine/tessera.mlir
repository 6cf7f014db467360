// A unit that nobody has built: it multiplies 8 x 5 bytes by 5 x 24 and adds the products to 8 x 24 sums of 32 bits.
//
// Its factors lie in a scratchpad of 64 KiB, its sums in registers of its own.

target.machine @tessera {
  summary = "a fictional unit for products of bytes", triple = "tessera-unknown-none", features = "", launch_ns = 1000, gflops = 64
} {
  target.space @sums {class = "reg", owner = "unit", bytes = 3072, vector = 96, align = 32}
  target.space @pad {class = "sram", owner = "unit", bytes = 65536, gbps = 64, align = 8, managed}
  target.space @dram {class = "dram", owner = "all", gbps = 8, align = 64}

  target.intrinsic @mm8x24x5(%a : !gir.tile<pad, i8, [8, 5]>, %b : !gir.tile<pad, i8, [5, 24]>, %c : !gir.tile<sums, i32, [8, 24]>)
      emit("tessera.mm8x24x5") {
    %r = gir.contract %a, %b, %c : !gir.tile<pad, i8, [8, 5]>, !gir.tile<pad, i8, [5, 24]>, !gir.tile<sums, i32, [8, 24]>
    gir.yield %r : !gir.tile<sums, i32, [8, 24]>
  }
}
