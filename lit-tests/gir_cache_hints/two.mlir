// Of two machines none says what the caches hold.

// RUN: not sutura-opt %s --gir-cache-hints 2>&1 | FileCheck %s
// CHECK: the module describes two machines, @a and @b

target.machine @a {triple = "x86_64-unknown-linux-gnu", features = ""} {
  target.space @dram {class = "dram", owner = "all"}
}
target.machine @b {triple = "x86_64-unknown-linux-gnu", features = ""} {
  target.space @dram {class = "dram", owner = "all"}
}
