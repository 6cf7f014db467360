// A row that lives in the output costs what it costs elsewhere.
// RUN: sutura-opt %s --print-gir-cost 2>&1 >/dev/null | FileCheck %s

target.machine @m {triple = "x86_64-unknown-linux-gnu", features = "+avx512f"} {
  target.space @vec {class = "reg", owner = "unit", bytes = 2048, vector = 64}
  target.space @l1 {class = "sram", owner = "unit", bytes = 1024, align = 64, bandwidth = 100, cached}
  target.space @l2 {class = "sram", owner = "unit", bytes = 1048576, align = 64, bandwidth = 50, cached}
  target.space @dram {class = "dram", owner = "all", bandwidth = 10}
}

// CHECK: @home at M = 128, N = 128: [[WORK:.*]]
// CHECK-NEXT: dram: [[DRAM:.*]]
// CHECK-NEXT: l1: [[NEAR:.*]]
// CHECK-NEXT: compulsory: [[LEAST:.*]]
// CHECK-NEXT: served by l1: [[ONE:.*]]
// CHECK-NEXT: served by l2: [[TWO:.*]]
// CHECK-NEXT: served by dram: [[FAR:.*]]
// CHECK-NEXT: predicted: [[TIME:.*]]
// CHECK: @scratch at M = 128, N = 128: [[WORK]]
// CHECK-NEXT: dram: [[DRAM]]
// CHECK-NEXT: l1: [[NEAR]]
// CHECK-NEXT: compulsory: [[LEAST]]
// CHECK-NEXT: served by l1: [[ONE]]
// CHECK-NEXT: served by l2: [[TWO]]
// CHECK-NEXT: served by dram: [[FAR]]
// CHECK-NEXT: predicted: [[TIME]]
gir.kernel @home(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 1000], %N : [0, 1000]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %e = gir.unary "exp" %t : !gir.tile<l1, f32, [1, N]>
  %h = gir.home %e, %to : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
  %sum = gir.reduce "add" "cols" %h : !gir.tile<l1, f32, [1, N]>
  %b = gir.broadcast %sum like %h : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %r = gir.binary "mul" %h, %b : !gir.tile<l1, f32, [1, N]>
  gir.store %r, %to : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

gir.kernel @scratch(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 1000], %N : [0, 1000]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %e = gir.unary "exp" %t : !gir.tile<l1, f32, [1, N]>
  %sum = gir.reduce "add" "cols" %e : !gir.tile<l1, f32, [1, N]>
  %b = gir.broadcast %sum like %e : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %r = gir.binary "mul" %e, %b : !gir.tile<l1, f32, [1, N]>
  gir.store %r, %to : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}
