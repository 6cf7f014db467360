// Floats of 16 bits are moved as bits where a mask or a shuffle is at work: a processor that does not compute with them would convert each.
// RUN: sutura-opt %s --convert-gir-to-cpu=vector-bytes=32 | FileCheck %s

// CHECK-LABEL: func.func @masked(
// CHECK: llvm.intr.masked.load{{.*}}vector<8xi16>
// CHECK: arith.bitcast {{.*}} : vector<8xi16> to vector<8xbf16>
// CHECK: arith.bitcast {{.*}} : vector<8xbf16> to vector<8xi16>
// CHECK: llvm.intr.masked.store {{.*}}vector<8xi16>
gir.kernel @masked(%x : !gir.view<dram, bf16, [M, 13]> in, %y : !gir.view<dram, bf16, [M, 13]> out) dims(%M : [0, 100]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, bf16, [M, 13]> -> !gir.slice<dram, bf16, [1, 13]>
  %t = gir.load %from : !gir.slice<dram, bf16, [1, 13]> -> !gir.tile<l1, bf16, [1, 13]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, bf16, [M, 13]> -> !gir.slice<dram, bf16, [1, 13]>
  gir.store %t, %to : !gir.tile<l1, bf16, [1, 13]>, !gir.slice<dram, bf16, [1, 13]>
}

// CHECK-LABEL: func.func @turned(
// CHECK: arith.bitcast {{.*}} : vector<8xf16> to vector<8xi16>
// CHECK: vector.shuffle {{.*}} : vector<8xi16>, vector<8xi16>
// CHECK-NOT: vector.shuffle {{.*}} : vector<8xf16>
// CHECK: return
gir.kernel @turned(%x : !gir.view<dram, f16, [8, 8]> in, %y : !gir.view<dram, f16, [8, 8]> out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f16, [8, 8]> -> !gir.slice<dram, f16, [8, 8]>
  %t = gir.load %from : !gir.slice<dram, f16, [8, 8]> -> !gir.tile<vec, f16, [8, 8]>
  %u = gir.transpose %t : !gir.tile<vec, f16, [8, 8]>
  %to = gir.slice %y[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f16, [8, 8]> -> !gir.slice<dram, f16, [8, 8]>
  gir.store %u, %to : !gir.tile<vec, f16, [8, 8]>, !gir.slice<dram, f16, [8, 8]>
}
