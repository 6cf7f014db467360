// RUN: sutura-opt %s --canonicalize --cse | FileCheck %s

// What generic passes do to kernels: traffic goes that nobody needs, and loops that run once or never.

// The second load of a window is the first one; a load that nobody uses goes.
// CHECK-LABEL: gir.kernel @equal_loads
// CHECK: gir.load
// CHECK-NOT: gir.load
// CHECK: gir.binary "add" %[[T:.*]], %[[T]]
gir.kernel @equal_loads(%x : !gir.view<dram, f32, [N, 8]> in, %y : !gir.view<dram, f32, [N, 8]> out)
    dims(%N : [0, 100]) grid(%i = N) units(1) {
  %zero = arith.constant 0 : index
  %a = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [N, 8]> -> !gir.slice<dram, f32, [1, 8]>
  %0 = gir.load %a : !gir.slice<dram, f32, [1, 8]> -> !gir.tile<vec, f32, [1, 8]>
  %b = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [N, 8]> -> !gir.slice<dram, f32, [1, 8]>
  %1 = gir.load %b : !gir.slice<dram, f32, [1, 8]> -> !gir.tile<vec, f32, [1, 8]>
  %unused = gir.load %b : !gir.slice<dram, f32, [1, 8]> -> !gir.tile<l1, f32, [1, 8]>
  %2 = gir.binary "add" %0, %1 : !gir.tile<vec, f32, [1, 8]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [N, 8]> -> !gir.slice<dram, f32, [1, 8]>
  gir.store %2, %to : !gir.tile<vec, f32, [1, 8]>, !gir.slice<dram, f32, [1, 8]>
}

// Memory that is written in between may have changed.
// CHECK-LABEL: gir.kernel @store_between
// CHECK: gir.load
// CHECK: gir.store
// CHECK: gir.load
// CHECK: gir.store
gir.kernel @store_between(%x : !gir.view<dram, f32, [8]> inout) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %s = gir.slice %x[%zero] cols(0) : !gir.view<dram, f32, [8]> -> !gir.slice<dram, f32, [1, 8]>
  %0 = gir.load %s : !gir.slice<dram, f32, [1, 8]> -> !gir.tile<vec, f32, [1, 8]>
  %1 = gir.unary "exp" %0 : !gir.tile<vec, f32, [1, 8]>
  gir.store %1, %s : !gir.tile<vec, f32, [1, 8]>, !gir.slice<dram, f32, [1, 8]>
  %2 = gir.load %s : !gir.slice<dram, f32, [1, 8]> -> !gir.tile<vec, f32, [1, 8]>
  %3 = gir.binary "add" %0, %2 : !gir.tile<vec, f32, [1, 8]>
  gir.store %3, %s : !gir.tile<vec, f32, [1, 8]>, !gir.slice<dram, f32, [1, 8]>
}

// A loop that runs once is its body; one that never runs is what it starts with.
// CHECK-LABEL: gir.kernel @few_trips
// CHECK-NOT: gir.for
// CHECK: gir.load
// CHECK-NOT: gir.for
// CHECK: gir.binary "add"
// CHECK-NOT: gir.binary "mul"
// CHECK: gir.store
gir.kernel @few_trips(%x : !gir.view<dram, f32, [8]> in, %y : !gir.view<dram, f32, [8]> out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %f = gir.fill 1.0 : f32 : !gir.tile<vec, f32, [1, 8]>
  %once = gir.for %k = %zero to %one carry(%acc = %f) : !gir.tile<vec, f32, [1, 8]> {
    %s = gir.slice %x[%k] cols(0) : !gir.view<dram, f32, [8]> -> !gir.slice<dram, f32, [1, 8]>
    %t = gir.load %s : !gir.slice<dram, f32, [1, 8]> -> !gir.tile<vec, f32, [1, 8]>
    %n = gir.binary "add" %acc, %t : !gir.tile<vec, f32, [1, 8]>
    gir.yield %n : !gir.tile<vec, f32, [1, 8]>
  }
  %never = gir.for %k = %one to %zero carry(%acc = %once) : !gir.tile<vec, f32, [1, 8]> {
    %n = gir.binary "mul" %acc, %acc : !gir.tile<vec, f32, [1, 8]>
    gir.yield %n : !gir.tile<vec, f32, [1, 8]>
  }
  %to = gir.slice %y[%zero] cols(0) : !gir.view<dram, f32, [8]> -> !gir.slice<dram, f32, [1, 8]>
  gir.store %never, %to : !gir.tile<vec, f32, [1, 8]>, !gir.slice<dram, f32, [1, 8]>
}
