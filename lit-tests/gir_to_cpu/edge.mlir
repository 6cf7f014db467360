// RUN: sutura-opt %s --convert-gir-to-cpu | FileCheck %s
// RUN: sutura-opt %s --convert-gir-to-cpu | sutura-opt --convert-gir-to-cpu -o %t.twice
// RUN: sutura-opt %s --convert-gir-to-cpu --threads=1 -o %t.once
// RUN: sutura-opt %s --convert-gir-to-cpu --threads=8 -o %t.many
// RUN: diff %t.once %t.twice
// RUN: diff %t.once %t.many
// RUN: sutura-opt %s --convert-gir-to-cpu --pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=STATS
// RUN: not sutura-opt %s --convert-gir-to-cpu=vector-bytes=48 2>&1 | FileCheck %s --check-prefix=POWER
// RUN: not sutura-opt %s --convert-gir-to-cpu=vector-bytes=2 2>&1 | FileCheck %s --check-prefix=RANGE

// STATS: ConvertGirToCpu
// STATS: (S) 7 num-kernels - kernels lowered
// POWER: option `vector-bytes` takes a power of two from 4 on, not `48`
// RANGE: vector-bytes

// What is no kernel is left alone.
// CHECK-LABEL: func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: return %x
func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// A kernel without views has no outputs and does nothing, once per group.
// CHECK-LABEL: func.func @nothing(
// CHECK-SAME: dims = []
// CHECK-SAME: grid = #dyn.shape<[]>
// CHECK-SAME: params = []
gir.kernel @nothing() dims() grid() units(1) {
}

// No elements and no groups: the loops have no trips, the signature says the sizes.
// CHECK-LABEL: func.func @no_groups(
// CHECK-SAME: grid = #dyn.shape<[0]>
// CHECK-SAME: params = [!rt.buffer<f32, [0, 8]>, !rt.buffer<f32, [0, 8]>]
// CHECK: scf.for
gir.kernel @no_groups(%x : !gir.view<dram, f32, [0, 8]> in, %y : !gir.view<dram, f32, [0, 8]> out) dims() grid(%i = 0) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [0, 8]> -> !gir.slice<dram, f32, [1, 8]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 8]> -> !gir.tile<l1, f32, [1, 8]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [0, 8]> -> !gir.slice<dram, f32, [1, 8]>
  gir.store %t, %to : !gir.tile<l1, f32, [1, 8]>, !gir.slice<dram, f32, [1, 8]>
}

// What a kernel relies on, and what its sizes are, stays known for the launch.
// CHECK-LABEL: func.func @relies(
// CHECK-SAME: dims = [{div = 4 : i64, max = 64 : i64, min = 8 : i64, name = "N"}]
// CHECK-SAME: modes = ["in", "out"]
// CHECK-SAME: requires = #dyn.shape<[-N + 32]>
gir.kernel @relies(%x : !gir.view<dram, f32, [N]> in, %y : !gir.view<dram, f32, [N]> out) dims(%N : [8, 64] div 4) requires([32 - N]) grid() units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%zero] cols(0) : !gir.view<dram, f32, [N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %to = gir.slice %y[%zero] cols(0) : !gir.view<dram, f32, [N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %t, %to : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

// Truth values lie in bytes, of which a register holds 64; indices in eight of them.
// CHECK-LABEL: func.func @bytes(
// CHECK: llvm.load {{.*}} -> vector<64xi8>
// CHECK: arith.trunci {{.*}} : vector<64xi8> to vector<64xi1>
// CHECK: arith.extui {{.*}} : vector<64xi1> to vector<64xi8>
// CHECK: llvm.store {{.*}} : vector<64xi8>
gir.kernel @bytes(%x : !gir.view<dram, i1, [N]> in, %y : !gir.view<dram, i1, [N]> out) dims(%N : [0, 64]) grid() units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%zero] cols(0) : !gir.view<dram, i1, [N]> -> !gir.slice<dram, i1, [1, N]>
  %t = gir.load %from : !gir.slice<dram, i1, [1, N]> -> !gir.tile<l1, i1, [1, N]>
  %to = gir.slice %y[%zero] cols(0) : !gir.view<dram, i1, [N]> -> !gir.slice<dram, i1, [1, N]>
  gir.store %t, %to : !gir.tile<l1, i1, [1, N]>, !gir.slice<dram, i1, [1, N]>
}
// Shorter integers fill a register. Floats of 64 bits fill two, which wait less than one.
// CHECK-LABEL: func.func @words(
// CHECK: llvm.load {{.*}} -> vector<32xi16>
// CHECK: llvm.store {{.*}} : vector<32xi16>
gir.kernel @words(%x : !gir.view<dram, i16, [N]> in, %y : !gir.view<dram, i16, [N]> out) dims(%N : [0, 64]) grid() units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%zero] cols(0) : !gir.view<dram, i16, [N]> -> !gir.slice<dram, i16, [1, N]>
  %t = gir.load %from : !gir.slice<dram, i16, [1, N]> -> !gir.tile<l1, i16, [1, N]>
  %to = gir.slice %y[%zero] cols(0) : !gir.view<dram, i16, [N]> -> !gir.slice<dram, i16, [1, N]>
  gir.store %t, %to : !gir.tile<l1, i16, [1, N]>, !gir.slice<dram, i16, [1, N]>
}
// CHECK-LABEL: func.func @doubles(
// CHECK: llvm.load {{.*}} -> vector<16xf64>
// CHECK: llvm.store {{.*}} : vector<16xf64>
gir.kernel @doubles(%x : !gir.view<dram, f64, [N]> in, %y : !gir.view<dram, f64, [N]> out) dims(%N : [0, 64]) grid() units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%zero] cols(0) : !gir.view<dram, f64, [N]> -> !gir.slice<dram, f64, [1, N]>
  %t = gir.load %from : !gir.slice<dram, f64, [1, N]> -> !gir.tile<l1, f64, [1, N]>
  %to = gir.slice %y[%zero] cols(0) : !gir.view<dram, f64, [N]> -> !gir.slice<dram, f64, [1, N]>
  gir.store %t, %to : !gir.tile<l1, f64, [1, N]>, !gir.slice<dram, f64, [1, N]>
}
// CHECK-LABEL: func.func @indices(
// CHECK: llvm.load {{.*}} -> vector<16xi64>
// CHECK-NOT: xindex>
// CHECK: llvm.store {{.*}} : vector<16xi64>
gir.kernel @indices(%x : !gir.view<dram, index, [N]> in, %y : !gir.view<dram, index, [N]> out) dims(%N : [0, 64]) grid() units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%zero] cols(0) : !gir.view<dram, index, [N]> -> !gir.slice<dram, index, [1, N]>
  %t = gir.load %from : !gir.slice<dram, index, [1, N]> -> !gir.tile<l1, index, [1, N]>
  %to = gir.slice %y[%zero] cols(0) : !gir.view<dram, index, [N]> -> !gir.slice<dram, index, [1, N]>
  gir.store %t, %to : !gir.tile<l1, index, [1, N]>, !gir.slice<dram, index, [1, N]>
}
