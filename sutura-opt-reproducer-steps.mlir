// A loop over one row takes two registers a step where a cache line holds them; over several rows, or in a scan, one.
//
// RUN: sutura-opt %s --convert-gir-to-cpu | FileCheck %s
// RUN: sutura-opt %s --convert-gir-to-cpu=vector-bytes=32 | FileCheck %s --check-prefix=ONE

target.machine @m {triple = "x86_64-unknown-linux-gnu", features = "+avx2,+fma"} {
  target.space @vec {class = "reg", owner = "unit", bytes = 512, vector = 32}
  target.space @l1 {class = "sram", owner = "unit", bytes = 32768, align = 64, cached}
  target.space @dram {class = "dram", owner = "all"}
}

// ONE-NOT: vector<16xf32>
// CHECK-LABEL: func.func @row(
// CHECK: math.exp {{.*}} : vector<16xf32>
// CHECK-NOT: vector<8xf32>
// CHECK: return
gir.kernel @row(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 100], %N : [0, 100]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %e = gir.unary "exp" %t : !gir.tile<l1, f32, [1, N]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %e, %to : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

// A sum has as many registers to wait for as on machines whose lines are a register: four.
// CHECK-LABEL: func.func @sum(
// CHECK: scf.for {{.*}} iter_args(%{{[^,]*}}, %{{[^,]*}}) -> (vector<16xf32>, vector<16xf32>)
// CHECK: vector.shuffle {{.*}} : vector<16xf32>
// ONE-LABEL: func.func @sum(
// ONE: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
gir.kernel @sum(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, 1]> out)
    dims(%M : [0, 100], %N : [0, 100]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %sum = gir.reduce "add" "cols" %t : !gir.tile<l1, f32, [1, N]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 1]> -> !gir.slice<dram, f32, [1, 1]>
  gir.store %sum, %to : !gir.tile<l1, f32, [1, 1]>, !gir.slice<dram, f32, [1, 1]>
}

// CHECK-LABEL: func.func @rows(
// CHECK-NOT: vector<16xf32>
// CHECK: math.exp {{.*}} : vector<8xf32>
gir.kernel @rows(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 100], %N : [0, 100]) grid(%i = (M + 1) floordiv 2) units(1) {
  %zero = arith.constant 0 : index
  %first = gir.index affine_map<(i) -> (2 * i)>(%i)
  %from = gir.slice %x[%first, %zero] rows(0) cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [2, N]>
  %t = gir.load %from : !gir.slice<dram, f32, [2, N]> -> !gir.tile<l1, f32, [2, N]>
  %e = gir.unary "exp" %t : !gir.tile<l1, f32, [2, N]>
  %to = gir.slice %y[%first, %zero] rows(0) cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [2, N]>
  gir.store %e, %to : !gir.tile<l1, f32, [2, N]>, !gir.slice<dram, f32, [2, N]>
}

// CHECK-LABEL: func.func @scan(
// CHECK-NOT: vector<16xf32>
// CHECK: vector.shuffle {{.*}} : vector<8xf32>
gir.kernel @scan(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 100], %N : [0, 100]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %s = gir.scan "add" "cols" %t : !gir.tile<l1, f32, [1, N]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %s, %to : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(convert-gir-to-gpu{threads=32})",
      disable_threading: false,
      verify_each: true
    }
  }
#-}
