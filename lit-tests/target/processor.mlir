// RUN: sutura-opt %s --split-input-file --verify-diagnostics

// What blocks share on a GPU.
target.machine @fine {triple = "t", features = "", subgroup = 32} {
  target.processor {count = 108, parts = 4, registers = 65536, granule = 256, threads = 2048, blocks = 32, bytes = 167936, reserved = 1024}
  target.space @dram {class = "dram", owner = "all"}
}

// -----

// expected-error @+1 {{'target.machine' op has 2 kinds of processors; there may be one}}
target.machine @two {triple = "t", features = ""} {
  target.processor {count = 1, parts = 1, registers = 1, granule = 1, threads = 1, blocks = 1, bytes = 1}
  target.processor {count = 1, parts = 1, registers = 1, granule = 1, threads = 1, blocks = 1, bytes = 1}
  target.space @dram {class = "dram", owner = "all"}
}

// -----

target.machine @none {triple = "t", features = ""} {
  // expected-error @+1 {{'target.processor' op 'granule' must be positive}}
  target.processor {count = 1, parts = 1, registers = 1, granule = 0, threads = 1, blocks = 1, bytes = 1}
  target.space @dram {class = "dram", owner = "all"}
}

// -----

target.machine @half {triple = "t", features = ""} {
  // expected-error @+1 {{requires attribute 'bytes'}}
  target.processor {count = 1, parts = 1, registers = 1, granule = 1, threads = 1, blocks = 1}
  target.space @dram {class = "dram", owner = "all"}
}
