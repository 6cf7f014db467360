// Four groups of a block, a subgroup and a short row each. What a thread has read and computed stays in its registers; a subgroup without
// a group computes what the last one does, and stores nothing.

// RUN: sutura-opt %s --convert-gir-to-gpu="subgroup=32" --canonicalize --cse | FileCheck %s

// CHECK-LABEL: gpu.func @softmax(
// CHECK-SAME: known_block_size = array<i32: 128, 1, 1>
// CHECK-SAME: rt.groups_of_block = 4
// CHECK: llvm.load
// CHECK-NOT: llvm.load
// CHECK: math.exp
// CHECK-NOT: {{llvm.load|math.exp|gpu.barrier}}
// CHECK: llvm.store
// CHECK-NOT: {{llvm.load|math.exp|gpu.barrier}}
gir.kernel @softmax(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 1000000], %N : [1, 100] div 4) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %m = gir.reduce "max" "cols" %t : !gir.tile<l1, f32, [1, N]>
  %mb = gir.broadcast %m like %t : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %d = gir.binary "sub" %t, %mb : !gir.tile<l1, f32, [1, N]>
  %e = gir.unary "exp" %d : !gir.tile<l1, f32, [1, N]>
  %s = gir.reduce "add" "cols" %e : !gir.tile<l1, f32, [1, N]>
  %sb = gir.broadcast %s like %e : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %r = gir.binary "div" %e, %sb : !gir.tile<l1, f32, [1, N]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %r, %to : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

// CHECK-LABEL: gpu.func @running(
// CHECK-SAME: rt.groups_of_block = 4
// CHECK: llvm.load
// CHECK-NOT: {{llvm.load|gpu.barrier}}
// CHECK: gpu.shuffle up
// CHECK: llvm.store
// CHECK-NOT: {{llvm.load|gpu.barrier}}
gir.kernel @running(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 1000000], %N : [1, 100] div 4) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %m = gir.reduce "max" "cols" %t : !gir.tile<l1, f32, [1, N]>
  %mb = gir.broadcast %m like %t : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %d = gir.binary "sub" %t, %mb : !gir.tile<l1, f32, [1, N]>
  %r = gir.scan "add" "cols" %d : !gir.tile<l1, f32, [1, N]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %r, %to : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}
