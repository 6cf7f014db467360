// RUN: sutura-opt %s --split-input-file --verify-diagnostics

// Main memory says from how many bytes on stores go past the caches.
target.machine @fine {triple = "t", features = ""} {
  target.space @dram {class = "dram", owner = "all", stream = 65536}
}

// -----

target.machine @cache {triple = "t", features = ""} {
  // expected-error @+1 {{'target.space' op only main memory has 'stream'}}
  target.space @l1 {class = "sram", owner = "unit", bytes = 1024, cached, stream = 65536}
  target.space @dram {class = "dram", owner = "all"}
}

// -----

target.machine @none {triple = "t", features = ""} {
  // expected-error @+1 {{'stream' must be positive}}
  target.space @dram {class = "dram", owner = "all", stream = 0}
}
