// Rewrites of kernels that lower the traffic.

// RUN: sutura-opt %s --gir-simplify | FileCheck %s
// RUN: sutura-opt %s --gir-simplify | sutura-opt --gir-simplify -o %t.twice
// RUN: sutura-opt %s --gir-simplify --threads=1 -o %t.once
// RUN: diff %t.once %t.twice
// RUN: sutura-opt %s --gir-simplify --pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=STATS
// STATS: GirSimplify
// STATS: (S) 2 num-forwarded
// STATS: (S) 2 num-stores
// STATS: (S) 2 num-allocs
// STATS: (S) 2 num-syncs
// STATS: (S) 1 num-shared

// What was just stored is there already; then nobody reads the memory, and it goes.
// CHECK-LABEL: gir.kernel @forward
// CHECK-NOT: gir.alloc
// CHECK: %[[T:.*]] = gir.load
// CHECK-NEXT: gir.binary "add" %[[T]], %[[T]]
// CHECK-NOT: gir.sync
gir.kernel @forward(%x : !gir.view<dram, f32, [8, 4]> in, %y : !gir.view<dram, f32, [8, 4]> out)
    dims() grid(%i = 8) units(1) {
  %c0 = arith.constant 0 : index
  %own = gir.alloc owner("unit") : !gir.view<l1, f32, [1, 4]>
  %s = gir.slice %x[%i, %c0] cols(1) : !gir.view<dram, f32, [8, 4]> -> !gir.slice<dram, f32, [1, 4]>
  %t = gir.load %s : !gir.slice<dram, f32, [1, 4]> -> !gir.tile<vec, f32, [1, 4]>
  %a = gir.slice %own[%c0, %c0] cols(1) : !gir.view<l1, f32, [1, 4]> -> !gir.slice<l1, f32, [1, 4]>
  gir.store %t, %a : !gir.tile<vec, f32, [1, 4]>, !gir.slice<l1, f32, [1, 4]>
  gir.sync
  %b = gir.slice %own[%c0, %c0] cols(1) : !gir.view<l1, f32, [1, 4]> -> !gir.slice<l1, f32, [1, 4]>
  %u = gir.load %b : !gir.slice<l1, f32, [1, 4]> -> !gir.tile<vec, f32, [1, 4]>
  %v = gir.binary "add" %u, %t : !gir.tile<vec, f32, [1, 4]>
  %o = gir.slice %y[%i, %c0] cols(1) : !gir.view<dram, f32, [8, 4]> -> !gir.slice<dram, f32, [1, 4]>
  gir.store %v, %o : !gir.tile<vec, f32, [1, 4]>, !gir.slice<dram, f32, [1, 4]>
}

// A tile that lies in another space is moved from there.
// CHECK-LABEL: gir.kernel @moved
// CHECK: %[[T:.*]] = gir.load {{.*}} -> !gir.tile<l1, f32, [1, 4]>
// CHECK: gir.move %[[T]] : !gir.tile<l1, f32, [1, 4]> -> !gir.tile<vec, f32, [1, 4]>
// CHECK-NOT: gir.load
gir.kernel @moved(%x : !gir.view<dram, f32, [8, 4]> in, %y : !gir.view<dram, f32, [8, 4]> out)
    dims() grid(%i = 8) units(1) {
  %c0 = arith.constant 0 : index
  %own = gir.alloc owner("unit") : !gir.view<l1, f32, [1, 4]>
  %s = gir.slice %x[%i, %c0] cols(1) : !gir.view<dram, f32, [8, 4]> -> !gir.slice<dram, f32, [1, 4]>
  %t = gir.load %s : !gir.slice<dram, f32, [1, 4]> -> !gir.tile<l1, f32, [1, 4]>
  %a = gir.slice %own[%c0, %c0] cols(1) : !gir.view<l1, f32, [1, 4]> -> !gir.slice<l1, f32, [1, 4]>
  gir.store %t, %a : !gir.tile<l1, f32, [1, 4]>, !gir.slice<l1, f32, [1, 4]>
  %u = gir.load %a : !gir.slice<l1, f32, [1, 4]> -> !gir.tile<vec, f32, [1, 4]>
  %o = gir.slice %y[%i, %c0] cols(1) : !gir.view<dram, f32, [8, 4]> -> !gir.slice<dram, f32, [1, 4]>
  gir.store %u, %o : !gir.tile<vec, f32, [1, 4]>, !gir.slice<dram, f32, [1, 4]>
}

// Another row of the same memory is another window, and what comes between may have written it: both stay. Memory of one
// type that is not used at the same time is one. Of two syncs in a row the second orders nothing.
// CHECK-LABEL: gir.kernel @kept
// CHECK-COUNT-1: gir.alloc owner("unit")
// CHECK-NOT: gir.alloc owner("unit")
// CHECK: gir.alloc owner("group")
// CHECK: gir.store
// CHECK: gir.store
// CHECK: gir.load
// CHECK: gir.sync
// CHECK-NOT: gir.sync
// CHECK: gir.load
gir.kernel @kept(%x : !gir.view<dram, f32, [8, 4]> in, %y : !gir.view<dram, f32, [16, 4]> out)
    dims() grid(%i = 8) units(%u, 2) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %own = gir.alloc owner("unit") : !gir.view<l1, f32, [2, 4]>
  %later = gir.alloc owner("unit") : !gir.view<l1, f32, [2, 4]>
  %all = gir.alloc owner("group") : !gir.view<l1, f32, [2, 4]>
  %row = gir.index affine_map<(d0, d1) -> (d0 * 2 + d1)>(%i, %u)
  %s = gir.slice %x[%i, %c0] cols(1) : !gir.view<dram, f32, [8, 4]> -> !gir.slice<dram, f32, [1, 4]>
  %t = gir.load %s : !gir.slice<dram, f32, [1, 4]> -> !gir.tile<vec, f32, [1, 4]>
  %a = gir.slice %own[%c0, %c0] cols(1) : !gir.view<l1, f32, [2, 4]> -> !gir.slice<l1, f32, [1, 4]>
  %b = gir.slice %own[%c1, %c0] cols(1) : !gir.view<l1, f32, [2, 4]> -> !gir.slice<l1, f32, [1, 4]>
  gir.store %t, %a : !gir.tile<vec, f32, [1, 4]>, !gir.slice<l1, f32, [1, 4]>
  gir.store %t, %b : !gir.tile<vec, f32, [1, 4]>, !gir.slice<l1, f32, [1, 4]>
  %v = gir.load %a : !gir.slice<l1, f32, [1, 4]> -> !gir.tile<vec, f32, [1, 4]>
  %mine = gir.slice %all[%u, %c0] cols(1) : !gir.view<l1, f32, [2, 4]> -> !gir.slice<l1, f32, [1, 4]>
  gir.store %v, %mine : !gir.tile<vec, f32, [1, 4]>, !gir.slice<l1, f32, [1, 4]>
  gir.sync
  gir.sync
  %first = gir.slice %all[%c0, %c0] cols(1) : !gir.view<l1, f32, [2, 4]> -> !gir.slice<l1, f32, [1, 4]>
  %w = gir.load %first : !gir.slice<l1, f32, [1, 4]> -> !gir.tile<vec, f32, [1, 4]>
  %c = gir.slice %later[%c0, %c0] cols(1) : !gir.view<l1, f32, [2, 4]> -> !gir.slice<l1, f32, [1, 4]>
  %d = gir.slice %later[%c1, %c0] cols(1) : !gir.view<l1, f32, [2, 4]> -> !gir.slice<l1, f32, [1, 4]>
  gir.store %w, %c : !gir.tile<vec, f32, [1, 4]>, !gir.slice<l1, f32, [1, 4]>
  gir.store %t, %d : !gir.tile<vec, f32, [1, 4]>, !gir.slice<l1, f32, [1, 4]>
  %z = gir.load %c : !gir.slice<l1, f32, [1, 4]> -> !gir.tile<vec, f32, [1, 4]>
  %o = gir.slice %y[%row, %c0] cols(1) : !gir.view<dram, f32, [16, 4]> -> !gir.slice<dram, f32, [1, 4]>
  gir.store %z, %o : !gir.tile<vec, f32, [1, 4]>, !gir.slice<dram, f32, [1, 4]>
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
