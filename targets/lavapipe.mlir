// Mesa's lavapipe: Vulkan on the processor, for tests without a GPU.
//
// A unit is a subgroup of 8 invocations, which run as one vector of AVX2. The workgroup's memory lies in the processor's cache.

target.machine @lavapipe {
  summary = "Mesa's lavapipe, Vulkan on the processor", triple = "spirv64-unknown-vulkan1.2", subgroup = 8,
  features = "",
  launch_ns = 20000, gflops = 50
} {
  target.space @vec {class = "reg", owner = "unit", bytes = 4096, vector = 128, align = 16}
  target.space @l1 {class = "sram", owner = "unit", bytes = 32768, gbps = 100, align = 16, cached}
  target.space @shared {class = "sram", owner = "group", bytes = 32768, gbps = 100, align = 16, managed}
  target.space @dram {class = "dram", owner = "all", gbps = 12, align = 256}
}
