// Of a table that is read at one index a launch touches what lies there, and not all of it.

// RUN: sutura-opt %s --gir-cache-hints | FileCheck %s

target.machine @m {triple = "x86_64-unknown-linux-gnu", features = "+avx512f"} {
  target.space @vec {class = "reg", owner = "unit", bytes = 2048, vector = 64}
  target.space @l1 {class = "sram", owner = "unit", bytes = 32768, align = 64, cached}
  target.space @dram {class = "dram", owner = "all", stream = 65536}
}

// One row of 1000: 8 KB in all.
// CHECK-LABEL: gir.kernel @one
// CHECK: gir.store %{{.*}}, %{{[0-9a-z]*}} :
gir.kernel @one(%x : !gir.view<dram, f32, [1000, 1024]> in, %at : !gir.view<dram, i64, []> in, %y : !gir.view<dram, f32, [1024]> out)
    dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %rows = arith.constant 1000 : index
  %from = gir.slice %at[] : !gir.view<dram, i64, []> -> !gir.slice<dram, i64, [1, 1]>
  %number = gir.load %from : !gir.slice<dram, i64, [1, 1]> -> !gir.tile<vec, i64, [1, 1]>
  %row = gir.pick "gather" %number below %rows at %zero : !gir.tile<vec, i64, [1, 1]>
  %there = gir.slice %x[%row, %zero] cols(1) : !gir.view<dram, f32, [1000, 1024]> -> !gir.slice<dram, f32, [1, 1024]>
  %t = gir.load %there : !gir.slice<dram, f32, [1, 1024]> -> !gir.tile<l1, f32, [1, 1024]>
  %to = gir.slice %y[%zero] cols(0) : !gir.view<dram, f32, [1024]> -> !gir.slice<dram, f32, [1, 1024]>
  gir.store %t, %to : !gir.tile<l1, f32, [1, 1024]>, !gir.slice<dram, f32, [1, 1024]>
}

// A row for each group.
// CHECK-LABEL: gir.kernel @many
// CHECK: gir.store %{{.*}}, %{{.*}} stream
gir.kernel @many(%x : !gir.view<dram, f32, [1000, 1024]> in, %at : !gir.view<dram, i64, [4]> in, %y : !gir.view<dram, f32, [4, 1024]> out)
    dims() grid(%i = 4) units(1) {
  %zero = arith.constant 0 : index
  %rows = arith.constant 1000 : index
  %from = gir.slice %at[%i] : !gir.view<dram, i64, [4]> -> !gir.slice<dram, i64, [1, 1]>
  %number = gir.load %from : !gir.slice<dram, i64, [1, 1]> -> !gir.tile<vec, i64, [1, 1]>
  %row = gir.pick "gather" %number below %rows at %i : !gir.tile<vec, i64, [1, 1]>
  %there = gir.slice %x[%row, %zero] cols(1) : !gir.view<dram, f32, [1000, 1024]> -> !gir.slice<dram, f32, [1, 1024]>
  %t = gir.load %there : !gir.slice<dram, f32, [1, 1024]> -> !gir.tile<l1, f32, [1, 1024]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [4, 1024]> -> !gir.slice<dram, f32, [1, 1024]>
  gir.store %t, %to : !gir.tile<l1, f32, [1, 1024]>, !gir.slice<dram, f32, [1, 1024]>
}
