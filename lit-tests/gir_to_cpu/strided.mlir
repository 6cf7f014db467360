// RUN: sutura-opt %s --convert-gir-to-cpu=vector-bytes=16 | FileCheck %s

// Every second element is two loads and a shuffle; what lies between is masked, as the last of it need not exist. Larger
// distances are gathered.

// CHECK-LABEL: func.func @second
// CHECK: %[[LOW:.*]] = vector.shuffle %[[ALL:.*]], %[[NONE:.*]] [0, 4, 1, 4] : vector<4xi1>, vector<4xi1>
// CHECK: %[[A:.*]] = {{.*}}llvm.intr.masked.load{{.*}} %[[LOW]]
// CHECK: %[[HIGH:.*]] = vector.shuffle %[[ALL]], %[[NONE]] [2, 4, 3, 4] : vector<4xi1>, vector<4xi1>
// CHECK: %[[B:.*]] = {{.*}}llvm.intr.masked.load{{.*}} %[[HIGH]]
// CHECK: vector.shuffle %[[A]], %[[B]] [0, 2, 4, 6] : vector<4xf32>, vector<4xf32>
// CHECK-NOT: gather
// CHECK-LABEL: func.func @third
// CHECK: llvm.intr.masked.gather
gir.kernel @second(%x : !gir.view<dram, f32, [M, 7]> in, %y : !gir.view<dram, f32, [M, 4]> out)
    dims(%M : [0, 100]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) by 2 : !gir.view<dram, f32, [M, 7]> -> !gir.slice<dram, f32, [1, 4]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 4]> -> !gir.tile<vec, f32, [1, 4]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 4]> -> !gir.slice<dram, f32, [1, 4]>
  gir.store %t, %to : !gir.tile<vec, f32, [1, 4]>, !gir.slice<dram, f32, [1, 4]>
}

gir.kernel @third(%x : !gir.view<dram, f32, [M, 10]> in, %y : !gir.view<dram, f32, [M, 4]> out)
    dims(%M : [0, 100]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) by 3 : !gir.view<dram, f32, [M, 10]> -> !gir.slice<dram, f32, [1, 4]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 4]> -> !gir.tile<vec, f32, [1, 4]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 4]> -> !gir.slice<dram, f32, [1, 4]>
  gir.store %t, %to : !gir.tile<vec, f32, [1, 4]>, !gir.slice<dram, f32, [1, 4]>
}
