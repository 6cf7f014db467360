// Tiles of more elements than 64 bits count.

// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx512},print-gir-cost{sizes=M=100000,N=1000})' -o /dev/null 2>&1 | FileCheck %s

// CHECK: @whole at M = 100000, N = 1000: 1 groups, 100000000 flops
// CHECK: predicted: {{.*}}
gir.kernel @whole(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 2147483647], %N : [1, 8192]) grid(%i = (M + 1099511627775) floordiv 1099511627776) units(1) {
  %zero = arith.constant 0 : index
  %q = gir.index affine_map<(d0) -> (d0 * 1099511627776)>(%i)
  %from = gir.slice %x[%q, %zero] rows(0) cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1099511627776, 1099511627776]>
  %t = gir.load %from : !gir.slice<dram, f32, [1099511627776, 1099511627776]> -> !gir.tile<vec, f32, [1099511627776, 1099511627776]>
  %e = gir.unary "exp" %t : !gir.tile<vec, f32, [1099511627776, 1099511627776]>
  %to = gir.slice %y[%q, %zero] rows(0) cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1099511627776, 1099511627776]>
  gir.store %e, %to : !gir.tile<vec, f32, [1099511627776, 1099511627776]>, !gir.slice<dram, f32, [1099511627776, 1099511627776]>
}
