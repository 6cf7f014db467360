// RUN: sutura-opt %s --tensorize --verify-diagnostics --remarks-filter-missed=tensorize | FileCheck %s
// RUN: sutura-opt %s --tensorize | sutura-opt --tensorize | FileCheck %s

target.machine @m {triple = "x86_64-unknown-linux-gnu", features = "+avx2,+fma"} {
  target.space @vec {class = "reg", owner = "unit", bytes = 512, vector = 32}
  target.space @dram {class = "dram", owner = "all"}
  // Means something else than a contraction of its operands: matches nothing.
  target.intrinsic @double(%a : !gir.tile<vec, f32, [2, 1]>, %b : !gir.tile<vec, f32, [1, 8]>, %c : !gir.tile<vec, f32, [2, 8]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [2, 1]>, !gir.tile<vec, f32, [1, 8]>, !gir.tile<vec, f32, [2, 8]>
    %s = gir.contract %a, %b, %r : !gir.tile<vec, f32, [2, 1]>, !gir.tile<vec, f32, [1, 8]>, !gir.tile<vec, f32, [2, 8]>
    gir.yield %s : !gir.tile<vec, f32, [2, 8]>
  }
  target.intrinsic @fma(%a : !gir.tile<vec, f32, [2, 1]>, %b : !gir.tile<vec, f32, [1, 8]>, %c : !gir.tile<vec, f32, [2, 8]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [2, 1]>, !gir.tile<vec, f32, [1, 8]>, !gir.tile<vec, f32, [2, 8]>
    gir.yield %r : !gir.tile<vec, f32, [2, 8]>
  }
}

// CHECK-LABEL: gir.kernel @fits
// CHECK: %[[A:.*]] = gir.load {{.*}} -> !gir.tile<vec, f32, [2, 1]>
// CHECK: %[[B:.*]] = gir.load {{.*}} -> !gir.tile<vec, f32, [1, 8]>
// CHECK: gir.intrinsic @fma(%[[A]], %[[B]], %{{.*}}) : (!gir.tile<vec, f32, [2, 1]>, !gir.tile<vec, f32, [1, 8]>, !gir.tile<vec, f32, [2, 8]>) -> !gir.tile<vec, f32, [2, 8]>
// CHECK-NOT: gir.contract
// CHECK: gir.store
gir.kernel @fits(%x : !gir.view<dram, f32, [2, 1]> in, %w : !gir.view<dram, f32, [1, 8]> in,
                 %y : !gir.view<dram, f32, [2, 8]> out)
    dims() grid(%i = 1) units(1) {
  %zero = arith.constant 0 : index
  %init = gir.fill 0.0 : f32 : !gir.tile<vec, f32, [2, 8]>
  %as = gir.slice %x[%zero, %zero] rows(0) : !gir.view<dram, f32, [2, 1]> -> !gir.slice<dram, f32, [2, 1]>
  %a = gir.load %as : !gir.slice<dram, f32, [2, 1]> -> !gir.tile<vec, f32, [2, 1]>
  %bs = gir.slice %w[%zero, %zero] cols(1) : !gir.view<dram, f32, [1, 8]> -> !gir.slice<dram, f32, [1, 8]>
  %b = gir.load %bs : !gir.slice<dram, f32, [1, 8]> -> !gir.tile<vec, f32, [1, 8]>
  %c = gir.contract %a, %b, %init : !gir.tile<vec, f32, [2, 1]>, !gir.tile<vec, f32, [1, 8]>, !gir.tile<vec, f32, [2, 8]>
  %out = gir.slice %y[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [2, 8]> -> !gir.slice<dram, f32, [2, 8]>
  gir.store %c, %out : !gir.tile<vec, f32, [2, 8]>, !gir.slice<dram, f32, [2, 8]>
}

// One row less: no intrinsic has that form.
// CHECK-LABEL: gir.kernel @stays
// CHECK: gir.contract
gir.kernel @stays(%x : !gir.view<dram, f32, [1, 1]> in, %w : !gir.view<dram, f32, [1, 8]> in,
                  %y : !gir.view<dram, f32, [1, 8]> out)
    dims() grid(%i = 1) units(1) {
  %zero = arith.constant 0 : index
  %init = gir.fill 0.0 : f32 : !gir.tile<vec, f32, [1, 8]>
  %as = gir.slice %x[%zero, %zero] : !gir.view<dram, f32, [1, 1]> -> !gir.slice<dram, f32, [1, 1]>
  %a = gir.load %as : !gir.slice<dram, f32, [1, 1]> -> !gir.tile<vec, f32, [1, 1]>
  %bs = gir.slice %w[%zero, %zero] cols(1) : !gir.view<dram, f32, [1, 8]> -> !gir.slice<dram, f32, [1, 8]>
  %b = gir.load %bs : !gir.slice<dram, f32, [1, 8]> -> !gir.tile<vec, f32, [1, 8]>
  // expected-remark @+1 {{'gir.contract' stays: no intrinsic of the machine contracts [1, 1] by [1, 8]}}
  %c = gir.contract %a, %b, %init : !gir.tile<vec, f32, [1, 1]>, !gir.tile<vec, f32, [1, 8]>, !gir.tile<vec, f32, [1, 8]>
  %out = gir.slice %y[%zero, %zero] cols(1) : !gir.view<dram, f32, [1, 8]> -> !gir.slice<dram, f32, [1, 8]>
  gir.store %c, %out : !gir.tile<vec, f32, [1, 8]>, !gir.slice<dram, f32, [1, 8]>
}
