// RUN: sutura-opt %s | sutura-opt | FileCheck %s
// RUN: sutura-opt %s --mlir-print-op-generic | sutura-opt | FileCheck %s
// RUN: sutura-opt %s --inline-programs --plan-buffers --check-passes | FileCheck %s --check-prefix=PLANNED
// RUN: sutura-opt %s --inline-programs --plan-buffers --convert-gir-to-cpu --convert-rt-to-llvm | FileCheck %s --check-prefix=HOST

gir.kernel @double(%x : !gir.view<dram, f32, [n]> in, %y : !gir.view<dram, f32, [n]> out) dims(%n : [0, 2147483647]) grid(%g = n) units(1) {
  %from = gir.slice %x[%g] : !gir.view<dram, f32, [n]> -> !gir.slice<dram, f32, [1, 1]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 1]> -> !gir.tile<vec, f32, [1, 1]>
  %u = gir.binary "add" %t, %t : !gir.tile<vec, f32, [1, 1]>
  %to = gir.slice %y[%g] : !gir.view<dram, f32, [n]> -> !gir.slice<dram, f32, [1, 1]>
  gir.store %u, %to : !gir.tile<vec, f32, [1, 1]>, !gir.slice<dram, f32, [1, 1]>
}

// Both that change their memory are in use where one of them is, so that %t lies apart from both.
// PLANNED-LABEL: rt.program @main
// PLANNED-COUNT-2: !rt.buffer<f32, [N]>) : !rt.buffer<f32, [N]>
// CHECK-LABEL: rt.program @main
// HOST-LABEL: func.func @sutura_run
// Each iteration reads where both are, and stores them the other way round.
// HOST: llvm.load volatile
// HOST: ^bb
rt.program @main(%x : !rt.buffer<f32, [N]> in "x", %c : !rt.buffer<i1, []> in "c", %y : !rt.buffer<f32, [N]> out "y",
                 %z : !rt.buffer<f32, [N]> out "z") symbols(N : [0, 64]) {
  %a = alloc : !rt.buffer<f32, [N]>
  %b = alloc : !rt.buffer<f32, [N]>
  %t = alloc : !rt.buffer<f32, [N]>
  %go = alloc : !rt.buffer<i1, []>
  %no = constant "no" = dense<false> : tensor<i1>
  copy %x, %a : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  copy %c, %go : !rt.buffer<i1, []>, !rt.buffer<i1, []>
  // A view is of what its buffer has where it is used.
  %v = view %a : !rt.buffer<f32, [N]> -> !rt.buffer<f32, [N]>
  launch @double(%x, %t) dims [N] : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  // CHECK: while
  while %go : !rt.buffer<i1, []> {
  } do {
    launch @double(%v, %b) dims [N] : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
    // CHECK: exchange %{{.*}}, %{{.*}} : !rt.buffer<f32, [N]>
    exchange %a, %b : !rt.buffer<f32, [N]>
    copy %no, %go : !rt.buffer<i1, []>, !rt.buffer<i1, []>
  }
  copy %v, %y : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  copy %t, %z : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
}
