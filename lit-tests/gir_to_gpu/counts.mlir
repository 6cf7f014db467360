// RUN: sutura-opt %s --convert-gir-to-gpu="threads=32" | FileCheck %s

// How many columns are left from each column on. The number of all columns is a tile of one column, the same for all threads:
// no thread adds where it stands to it.
// CHECK-LABEL: gpu.func @counts(
// CHECK: %[[WHOLE:.+]] = arith.addi %arg3, %{{c0_i64.*}} : i64
// CHECK: vector.broadcast %[[WHOLE]] : i64 to vector<4xi64>
gir.kernel @counts(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 2147483647], %N : [1, 8192]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %in = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %in : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %places = gir.iota "cols"(%zero) : !gir.tile<l1, index, [1, N]>
  %whole = gir.iota "cols"(%N) : !gir.tile<vec, index, [1, 1]>
  %all = gir.broadcast %whole like %places : !gir.tile<vec, index, [1, 1]>, !gir.tile<l1, index, [1, N]>
  %left = gir.binary "subi" %all, %places : !gir.tile<l1, index, [1, N]>
  %number = gir.cast "index_cast" %left : !gir.tile<l1, index, [1, N]> -> !gir.tile<l1, i64, [1, N]>
  %float = gir.cast "sitofp" %number : !gir.tile<l1, i64, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %r = gir.binary "mul" %t, %float : !gir.tile<l1, f32, [1, N]>
  %out = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %r, %out : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}
