// RUN: sutura-opt %s | sutura-opt | FileCheck %s
// RUN: sutura-opt %s --mlir-print-op-generic | sutura-opt | FileCheck %s
// RUN: sutura-opt %s --inline-programs --check-passes | FileCheck %s --check-prefix=INLINED
// RUN: sutura-opt %s --inline-programs --remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: sutura-opt %s --inline-programs --plan-buffers --check-passes -o /dev/null

gir.kernel @double(%x : !gir.view<dram, f32, [n]> in, %y : !gir.view<dram, f32, [n]> out) dims(%n : [0, 2147483647]) grid(%g = n) units(1) {
  %from = gir.slice %x[%g] : !gir.view<dram, f32, [n]> -> !gir.slice<dram, f32, [1, 1]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 1]> -> !gir.tile<vec, f32, [1, 1]>
  %u = gir.binary "add" %t, %t : !gir.tile<vec, f32, [1, 1]>
  %to = gir.slice %y[%g] : !gir.view<dram, f32, [n]> -> !gir.slice<dram, f32, [1, 1]>
  gir.store %u, %to : !gir.tile<vec, f32, [1, 1]>, !gir.slice<dram, f32, [1, 1]>
}

// CHECK-LABEL: rt.program @twice(
// CHECK-SAME: attributes {private}
rt.program @twice(%x : !rt.buffer<f32, [N]> in "x", %y : !rt.buffer<f32, [N]> out "y") symbols(N : [0, 2147483647]) attributes {private} {
  %t = alloc : !rt.buffer<f32, [N]>
  launch @double(%x, %t) dims [N] : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
  launch @double(%t, %y) dims [N] : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
}

// REMARK: remark: @main: 2 programs that it invokes are part of it
// INLINED-NOT: rt.program @twice
// INLINED-LABEL: {{^ *}}rt.program @main
// INLINED-DAG: alloc {each_iteration} : !rt.buffer<f32, [2*N]>
// INLINED-DAG: alloc : !rt.buffer<f32, [3]>
// CHECK-LABEL: rt.program @main
rt.program @main(%x : !rt.buffer<f32, [2*N]> in "x", %c : !rt.buffer<i1, []> in "c", %w : !rt.buffer<f32, [M]> in "w",
                 %y : !rt.buffer<f32, [2*N]> out "y", %z : !rt.buffer<f32, [3]> out "z") symbols(N : [0, 64], M : [0, 64]) {
  %go = alloc : !rt.buffer<i1, []>
  %no = constant "no" = dense<false> : tensor<i1>
  copy %c, %go : !rt.buffer<i1, []>, !rt.buffer<i1, []>
  copy %x, %y : !rt.buffer<f32, [2*N]>, !rt.buffer<f32, [2*N]>
  %s = alloc : !rt.buffer<f32, [2*N]>
  // CHECK: while %{{.*}} : !rt.buffer<i1, []> {
  // CHECK-NEXT: } do {
  // CHECK-NEXT: invoke @twice ins(%x) outs(%{{.*}}) : !rt.buffer<f32, [2*N]>, !rt.buffer<f32, [2*N]>
  // INLINED: while
  // INLINED: launch @double(%{{.*}}, %{{.*}}) dims [2*N]
  // INLINED: launch @double(%{{.*}}, %{{.*}}) dims [2*N]
  while %go : !rt.buffer<i1, []> {
  } do {
    invoke @twice ins(%x) outs(%s) : !rt.buffer<f32, [2*N]>, !rt.buffer<f32, [2*N]>
    copy %s, %y : !rt.buffer<f32, [2*N]>, !rt.buffer<f32, [2*N]>
    copy %no, %go : !rt.buffer<i1, []>, !rt.buffer<i1, []>
  }
  // A size that only this side needs to be 3 is compared there.
  %three = constant "three" = dense<1.0> : tensor<3xf32>
  // CHECK: if %c : !rt.buffer<i1, []> {
  // CHECK: } else {
  // CHECK-NEXT: view %{{.*}} {checked = "w"} : !rt.buffer<f32, [M]> -> !rt.buffer<f32, [3]>
  if %c : !rt.buffer<i1, []> {
    copy %three, %z : !rt.buffer<f32, [3]>, !rt.buffer<f32, [3]>
  } else {
    %v = view %w {checked = "w"} : !rt.buffer<f32, [M]> -> !rt.buffer<f32, [3]>
    invoke @twice ins(%v) outs(%z) : !rt.buffer<f32, [3]>, !rt.buffer<f32, [3]>
  }
}
