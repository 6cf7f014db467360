// Two rows are kept for what one store writes: the last of them lives there.

// RUN: sutura-opt %s --gir-cache-hints | FileCheck %s
// RUN: sutura-opt %s --gir-cache-hints --remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=SAID

// CHECK: %[[OUT:.*]] = gir.slice %arg2
// CHECK: gir.home %{{.*}}, %[[OUT]]
// CHECK-NOT: gir.home
// CHECK: gir.store {{.*}}, %[[OUT]]
// SAID: the row lives in scratch until it is stored: a later row lives where it is stored
// SAID: the row lives in the output until it is stored there

target.machine @m {triple = "t", features = ""} {
  target.space @vec {class = "reg", owner = "unit", bytes = 2048, vector = 64}
  target.space @l1 {class = "sram", owner = "unit", bytes = 1024, align = 64, cached}
  target.space @dram {class = "dram", owner = "all", stream = 1}
}

  gir.kernel @twice(%arg0 : !gir.view<dram, f32, [M, N]> in, %arg1 : !gir.view<dram, f32, [M, 1]> in, %arg2 : !gir.view<dram, f32, [M, N]> out) dims(%M : [0, 2147483647], %N : [0, 4096]) grid(%arg3 = M) units(1) {
    %c0 = arith.constant 0 : index
    %0 = gir.slice %arg0[%arg3, %c0] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
    %1 = gir.load %0 : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
    %2 = gir.slice %arg1[%arg3, %c0] : !gir.view<dram, f32, [M, 1]> -> !gir.slice<dram, f32, [1, 1]>
    %3 = gir.load %2 : !gir.slice<dram, f32, [1, 1]> -> !gir.tile<vec, f32, [1, 1]>
    %4 = gir.broadcast %3 like %1 : !gir.tile<vec, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
    %5 = gir.binary "max" %1, %4 : !gir.tile<l1, f32, [1, N]>
    %6 = gir.reduce "max" "cols" %5 : !gir.tile<l1, f32, [1, N]>
    %7 = gir.broadcast %6 like %5 : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
    %8 = gir.binary "sub" %5, %7 : !gir.tile<l1, f32, [1, N]>
    %9 = gir.unary "exp" %8 : !gir.tile<l1, f32, [1, N]>
    %10 = gir.reduce "add" "cols" %9 : !gir.tile<l1, f32, [1, N]>
    %11 = gir.move %10 : !gir.tile<l1, f32, [1, 1]> -> !gir.tile<vec, f32, [1, 1]>
    %12 = gir.fill 1.000000e+00 : f32 : !gir.tile<vec, f32, [1, 1]>
    %13 = gir.binary "div" %12, %11 : !gir.tile<vec, f32, [1, 1]>
    %14 = gir.broadcast %13 like %9 : !gir.tile<vec, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
    %15 = gir.binary "mul" %9, %14 : !gir.tile<l1, f32, [1, N]>
    %16 = gir.reduce "max" "cols" %15 : !gir.tile<l1, f32, [1, N]>
    %17 = gir.broadcast %16 like %15 : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
    %18 = gir.binary "sub" %15, %17 : !gir.tile<l1, f32, [1, N]>
    %19 = gir.unary "exp" %18 : !gir.tile<l1, f32, [1, N]>
    %20 = gir.reduce "add" "cols" %19 : !gir.tile<l1, f32, [1, N]>
    %21 = gir.move %20 : !gir.tile<l1, f32, [1, 1]> -> !gir.tile<vec, f32, [1, 1]>
    %22 = gir.fill 1.000000e+00 : f32 : !gir.tile<vec, f32, [1, 1]>
    %23 = gir.binary "div" %22, %21 : !gir.tile<vec, f32, [1, 1]>
    %24 = gir.broadcast %23 like %19 : !gir.tile<vec, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
    %25 = gir.binary "mul" %19, %24 : !gir.tile<l1, f32, [1, N]>
    %26 = gir.slice %arg2[%arg3, %c0] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
    gir.store %25, %26 : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
  }
