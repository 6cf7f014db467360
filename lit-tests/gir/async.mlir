// Asynchronous copies: read, written, and each rule kept and broken.

// RUN: sutura-opt %s --split-input-file --verify-diagnostics | FileCheck %s
// RUN: sutura-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

// Two batches are on their way at once; the loop carries both, and waits for the older one each time. What is begun in the last
// trip lies beyond the view, so that it reads nothing.
// CHECK-LABEL: gir.kernel @carried
// CHECK: gir.async_copy %{{.*}}, %{{.*}} zeros : !gir.slice<dram, f32, [1, 64]>, !gir.slice<l1, f32, [1, 64]>
// CHECK-NEXT: gir.async_commit
// CHECK: gir.async_copy %{{.*}}, %{{.*}} : !gir.slice<dram, f32, [1, 64]>, !gir.slice<l1, f32, [1, 64]>
// CHECK: gir.async_wait 1
// GENERIC: "gir.async_copy"({{.*}}) <{zeros}>
// GENERIC: "gir.async_commit"() : () -> ()
// GENERIC: "gir.async_wait"() <{pending = 1 : i64}> : () -> ()
gir.kernel @carried(%x : !gir.view<dram, f32, [M, 64]> in, %w : !gir.view<dram, f32, [M, 64]> in, %y : !gir.view<dram, f32, [M, 64]> out)
    dims(%M : [1, 4096]) grid() units(1) {
  %zero = arith.constant 0 : index
  %a = gir.alloc owner("unit") : !gir.view<l1, f32, [1, 64]>
  %b = gir.alloc owner("unit") : !gir.view<l1, f32, [1, 64]>
  %to_a = gir.slice %a[%zero, %zero] rows(0) cols(1) : !gir.view<l1, f32, [1, 64]> -> !gir.slice<l1, f32, [1, 64]>
  %to_b = gir.slice %b[%zero, %zero] rows(0) cols(1) : !gir.view<l1, f32, [1, 64]> -> !gir.slice<l1, f32, [1, 64]>
  %first_a = gir.slice %x[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  gir.async_copy %first_a, %to_a zeros : !gir.slice<dram, f32, [1, 64]>, !gir.slice<l1, f32, [1, 64]>
  gir.async_commit
  %first_b = gir.slice %w[%zero, %zero] rows(0) cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
  gir.async_copy %first_b, %to_b : !gir.slice<dram, f32, [1, 64]>, !gir.slice<l1, f32, [1, 64]>
  gir.async_commit
  gir.for %i = %zero to %M {
    %next = gir.index affine_map<(d0) -> (d0 + 1)>(%i)
    gir.async_wait 1
    %t = gir.load %to_a : !gir.slice<l1, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
    %e = gir.unary "exp" %t : !gir.tile<l1, f32, [1, 64]>
    %next_a = gir.slice %x[%next, %zero] rows(0) cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
    gir.async_copy %next_a, %to_a zeros : !gir.slice<dram, f32, [1, 64]>, !gir.slice<l1, f32, [1, 64]>
    gir.async_commit
    gir.async_wait 1
    %u = gir.load %to_b : !gir.slice<l1, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
    %r = gir.binary "mul" %e, %u : !gir.tile<l1, f32, [1, 64]>
    %next_b = gir.slice %w[%next, %zero] rows(0) cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
    gir.async_copy %next_b, %to_b : !gir.slice<dram, f32, [1, 64]>, !gir.slice<l1, f32, [1, 64]>
    gir.async_commit
    %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, 64]> -> !gir.slice<dram, f32, [1, 64]>
    gir.store %r, %to : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
  }
  gir.async_wait 0
}

// -----

gir.kernel @unwaited(%x : !gir.view<dram, f32, [64]> in, %y : !gir.view<dram, f32, [64]> out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %near = gir.alloc owner("unit") : !gir.view<l1, f32, [64]>
  %from = gir.slice %x[%zero] cols(0) : !gir.view<dram, f32, [64]> -> !gir.slice<dram, f32, [1, 64]>
  %at = gir.slice %near[%zero] cols(0) : !gir.view<l1, f32, [64]> -> !gir.slice<l1, f32, [1, 64]>
  %to = gir.slice %y[%zero] cols(0) : !gir.view<dram, f32, [64]> -> !gir.slice<dram, f32, [1, 64]>
  gir.async_copy %from, %at : !gir.slice<dram, f32, [1, 64]>, !gir.slice<l1, f32, [1, 64]>
  gir.async_commit
  // expected-error @below {{'gir.load' op reads %near, to which a copy is on its way: a gir.async_wait must stand between}}
  %t = gir.load %at : !gir.slice<l1, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  gir.async_wait 0
  gir.store %t, %to : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}

// -----

gir.kernel @too_few(%x : !gir.view<dram, f32, [64]> in, %y : !gir.view<dram, f32, [64]> out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %near = gir.alloc owner("unit") : !gir.view<l1, f32, [64]>
  %from = gir.slice %x[%zero] cols(0) : !gir.view<dram, f32, [64]> -> !gir.slice<dram, f32, [1, 64]>
  %at = gir.slice %near[%zero] cols(0) : !gir.view<l1, f32, [64]> -> !gir.slice<l1, f32, [1, 64]>
  %to = gir.slice %y[%zero] cols(0) : !gir.view<dram, f32, [64]> -> !gir.slice<dram, f32, [1, 64]>
  %other = gir.alloc owner("unit") : !gir.view<l1, f32, [64]>
  %beside = gir.slice %other[%zero] cols(0) : !gir.view<l1, f32, [64]> -> !gir.slice<l1, f32, [1, 64]>
  gir.async_copy %from, %at : !gir.slice<dram, f32, [1, 64]>, !gir.slice<l1, f32, [1, 64]>
  gir.async_commit
  gir.async_copy %from, %beside : !gir.slice<dram, f32, [1, 64]>, !gir.slice<l1, f32, [1, 64]>
  gir.async_commit
  gir.async_wait 1
  %t = gir.load %at : !gir.slice<l1, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  // expected-error @below {{'gir.store' op writes %other, to which a copy is on its way: a gir.async_wait must stand between}}
  gir.store %t, %beside : !gir.tile<l1, f32, [1, 64]>, !gir.slice<l1, f32, [1, 64]>
  gir.async_wait 0
  gir.store %t, %to : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}

// -----

gir.kernel @twice(%x : !gir.view<dram, f32, [64]> in, %y : !gir.view<dram, f32, [64]> out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %near = gir.alloc owner("unit") : !gir.view<l1, f32, [64]>
  %from = gir.slice %x[%zero] cols(0) : !gir.view<dram, f32, [64]> -> !gir.slice<dram, f32, [1, 64]>
  %at = gir.slice %near[%zero] cols(0) : !gir.view<l1, f32, [64]> -> !gir.slice<l1, f32, [1, 64]>
  %to = gir.slice %y[%zero] cols(0) : !gir.view<dram, f32, [64]> -> !gir.slice<dram, f32, [1, 64]>
  gir.async_copy %from, %at : !gir.slice<dram, f32, [1, 64]>, !gir.slice<l1, f32, [1, 64]>
  // expected-error @below {{'gir.async_copy' op copies to %near, to which a copy is on its way: a gir.async_wait must stand between}}
  gir.async_copy %from, %at : !gir.slice<dram, f32, [1, 64]>, !gir.slice<l1, f32, [1, 64]>
  gir.async_commit
  gir.async_wait 0
  %t = gir.load %at : !gir.slice<l1, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  gir.store %t, %to : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}

// -----

gir.kernel @no_batch(%x : !gir.view<dram, f32, [64]> in, %y : !gir.view<dram, f32, [64]> out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %near = gir.alloc owner("unit") : !gir.view<l1, f32, [64]>
  %from = gir.slice %x[%zero] cols(0) : !gir.view<dram, f32, [64]> -> !gir.slice<dram, f32, [1, 64]>
  %at = gir.slice %near[%zero] cols(0) : !gir.view<l1, f32, [64]> -> !gir.slice<l1, f32, [1, 64]>
  %to = gir.slice %y[%zero] cols(0) : !gir.view<dram, f32, [64]> -> !gir.slice<dram, f32, [1, 64]>
  // expected-error @below {{'gir.async_copy' op is on its way to %near when the kernel ends: a gir.async_commit must stand behind it}}
  gir.async_copy %from, %at : !gir.slice<dram, f32, [1, 64]>, !gir.slice<l1, f32, [1, 64]>
  gir.async_wait 0
  %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  gir.store %t, %to : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}

// -----

gir.kernel @never(%x : !gir.view<dram, f32, [64]> in, %y : !gir.view<dram, f32, [64]> out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %near = gir.alloc owner("unit") : !gir.view<l1, f32, [64]>
  %from = gir.slice %x[%zero] cols(0) : !gir.view<dram, f32, [64]> -> !gir.slice<dram, f32, [1, 64]>
  %at = gir.slice %near[%zero] cols(0) : !gir.view<l1, f32, [64]> -> !gir.slice<l1, f32, [1, 64]>
  %to = gir.slice %y[%zero] cols(0) : !gir.view<dram, f32, [64]> -> !gir.slice<dram, f32, [1, 64]>
  // expected-error @below {{'gir.async_copy' op is on its way to %near when the kernel ends: a gir.async_wait 0 must stand behind it}}
  gir.async_copy %from, %at : !gir.slice<dram, f32, [1, 64]>, !gir.slice<l1, f32, [1, 64]>
  gir.async_commit
  %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  gir.store %t, %to : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}

// -----

gir.kernel @left_by_a_trip(%x : !gir.view<dram, f32, [64]> in, %y : !gir.view<dram, f32, [64]> out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %near = gir.alloc owner("unit") : !gir.view<l1, f32, [64]>
  %from = gir.slice %x[%zero] cols(0) : !gir.view<dram, f32, [64]> -> !gir.slice<dram, f32, [1, 64]>
  %at = gir.slice %near[%zero] cols(0) : !gir.view<l1, f32, [64]> -> !gir.slice<l1, f32, [1, 64]>
  %to = gir.slice %y[%zero] cols(0) : !gir.view<dram, f32, [64]> -> !gir.slice<dram, f32, [1, 64]>
  %two = arith.constant 2 : index
  gir.async_copy %from, %at : !gir.slice<dram, f32, [1, 64]>, !gir.slice<l1, f32, [1, 64]>
  gir.async_commit
  gir.async_wait 0
  %t = gir.load %at : !gir.slice<l1, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  // expected-error @below {{'gir.for' op has on the way nothing before its first trip, and a batch into (%near) behind a trip: it must be the same}}
  gir.for %i = %zero to %two {
    gir.async_copy %from, %at : !gir.slice<dram, f32, [1, 64]>, !gir.slice<l1, f32, [1, 64]>
    gir.async_commit
  }
  gir.async_wait 0
  gir.store %t, %to : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}

// -----

gir.kernel @gone_in_a_trip(%x : !gir.view<dram, f32, [64]> in, %y : !gir.view<dram, f32, [64]> out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %near = gir.alloc owner("unit") : !gir.view<l1, f32, [64]>
  %from = gir.slice %x[%zero] cols(0) : !gir.view<dram, f32, [64]> -> !gir.slice<dram, f32, [1, 64]>
  %at = gir.slice %near[%zero] cols(0) : !gir.view<l1, f32, [64]> -> !gir.slice<l1, f32, [1, 64]>
  %to = gir.slice %y[%zero] cols(0) : !gir.view<dram, f32, [64]> -> !gir.slice<dram, f32, [1, 64]>
  %two = arith.constant 2 : index
  gir.async_copy %from, %at : !gir.slice<dram, f32, [1, 64]>, !gir.slice<l1, f32, [1, 64]>
  gir.async_commit
  // expected-error @below {{'gir.for' op has on the way a batch into (%near) before its first trip, and nothing behind a trip: it must be the same}}
  gir.for %i = %zero to %two {
    gir.async_wait 0
  }
  gir.async_wait 0
  %t = gir.load %at : !gir.slice<l1, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  gir.store %t, %to : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}

// -----

gir.kernel @back(%x : !gir.view<dram, f32, [64]> in, %y : !gir.view<dram, f32, [64]> out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %near = gir.alloc owner("unit") : !gir.view<l1, f32, [64]>
  %from = gir.slice %x[%zero] cols(0) : !gir.view<dram, f32, [64]> -> !gir.slice<dram, f32, [1, 64]>
  %at = gir.slice %near[%zero] cols(0) : !gir.view<l1, f32, [64]> -> !gir.slice<l1, f32, [1, 64]>
  %to = gir.slice %y[%zero] cols(0) : !gir.view<dram, f32, [64]> -> !gir.slice<dram, f32, [1, 64]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  gir.store %t, %to : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
  // expected-error @below {{'gir.async_copy' op copies from %near, which is no 'in' view of the kernel}}
  gir.async_copy %at, %at : !gir.slice<l1, f32, [1, 64]>, !gir.slice<l1, f32, [1, 64]>
}

// -----

gir.kernel @out(%x : !gir.view<dram, f32, [64]> in, %y : !gir.view<dram, f32, [64]> out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %near = gir.alloc owner("unit") : !gir.view<l1, f32, [64]>
  %from = gir.slice %x[%zero] cols(0) : !gir.view<dram, f32, [64]> -> !gir.slice<dram, f32, [1, 64]>
  %at = gir.slice %near[%zero] cols(0) : !gir.view<l1, f32, [64]> -> !gir.slice<l1, f32, [1, 64]>
  %to = gir.slice %y[%zero] cols(0) : !gir.view<dram, f32, [64]> -> !gir.slice<dram, f32, [1, 64]>
  // expected-error @below {{'gir.async_copy' op copies to %y, which is no memory of a unit or a group}}
  gir.async_copy %from, %to : !gir.slice<dram, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 64]> -> !gir.tile<l1, f32, [1, 64]>
  gir.store %t, %to : !gir.tile<l1, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}

// -----

gir.kernel @extents(%x : !gir.view<dram, f32, [64]> in, %y : !gir.view<dram, f32, [64]> out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %near = gir.alloc owner("unit") : !gir.view<l1, f32, [64]>
  %from = gir.slice %x[%zero] cols(0) : !gir.view<dram, f32, [64]> -> !gir.slice<dram, f32, [1, 64]>
  %at = gir.slice %near[%zero] cols(0) : !gir.view<l1, f32, [64]> -> !gir.slice<l1, f32, [1, 64]>
  %to = gir.slice %y[%zero] cols(0) : !gir.view<dram, f32, [64]> -> !gir.slice<dram, f32, [1, 64]>
  %half = gir.slice %near[%zero] cols(0) : !gir.view<l1, f32, [64]> -> !gir.slice<l1, f32, [1, 32]>
  // expected-error @below {{'gir.async_copy' op a copy keeps element type and extents}}
  gir.async_copy %from, %half : !gir.slice<dram, f32, [1, 64]>, !gir.slice<l1, f32, [1, 32]>
}

// -----

gir.kernel @negative(%x : !gir.view<dram, f32, [64]> in, %y : !gir.view<dram, f32, [64]> out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %near = gir.alloc owner("unit") : !gir.view<l1, f32, [64]>
  %from = gir.slice %x[%zero] cols(0) : !gir.view<dram, f32, [64]> -> !gir.slice<dram, f32, [1, 64]>
  %at = gir.slice %near[%zero] cols(0) : !gir.view<l1, f32, [64]> -> !gir.slice<l1, f32, [1, 64]>
  %to = gir.slice %y[%zero] cols(0) : !gir.view<dram, f32, [64]> -> !gir.slice<dram, f32, [1, 64]>
  // expected-error @below {{'gir.async_wait' op lets -1 batches be on their way: 0 to 2147483647 are possible}}
  gir.async_wait -1
}

// -----

gir.kernel @more_than_instructions_name(%x : !gir.view<dram, f32, [64]> in, %y : !gir.view<dram, f32, [64]> out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %near = gir.alloc owner("unit") : !gir.view<l1, f32, [64]>
  %from = gir.slice %x[%zero] cols(0) : !gir.view<dram, f32, [64]> -> !gir.slice<dram, f32, [1, 64]>
  %at = gir.slice %near[%zero] cols(0) : !gir.view<l1, f32, [64]> -> !gir.slice<l1, f32, [1, 64]>
  %to = gir.slice %y[%zero] cols(0) : !gir.view<dram, f32, [64]> -> !gir.slice<dram, f32, [1, 64]>
  // expected-error @below {{'gir.async_wait' op lets 2147483648 batches be on their way: 0 to 2147483647 are possible}}
  gir.async_wait 2147483648
}

// -----

// A group's memory: each unit copies its own part, and the others wait for it and for the unit.
// CHECK-LABEL: gir.kernel @shared
gir.kernel @shared(%x : !gir.view<dram, f32, [256]> in, %y : !gir.view<dram, f32, [256]> out) dims() grid() units(%u, 4) {
  %near = gir.alloc owner("group") : !gir.view<shared, f32, [256]>
  %own = gir.index affine_map<(d0) -> (d0 * 64)>(%u)
  %from = gir.slice %x[%own] cols(0) : !gir.view<dram, f32, [256]> -> !gir.slice<dram, f32, [1, 64]>
  %mine = gir.slice %near[%own] cols(0) : !gir.view<shared, f32, [256]> -> !gir.slice<shared, f32, [1, 64]>
  gir.async_copy %from, %mine : !gir.slice<dram, f32, [1, 64]>, !gir.slice<shared, f32, [1, 64]>
  gir.async_commit
  gir.async_wait 0
  gir.sync
  %across = gir.index affine_map<(d0) -> (192 - d0 * 64)>(%u)
  %theirs = gir.slice %near[%across] cols(0) : !gir.view<shared, f32, [256]> -> !gir.slice<shared, f32, [1, 64]>
  %t = gir.load %theirs : !gir.slice<shared, f32, [1, 64]> -> !gir.tile<vec, f32, [1, 64]>
  %to = gir.slice %y[%own] cols(0) : !gir.view<dram, f32, [256]> -> !gir.slice<dram, f32, [1, 64]>
  gir.store %t, %to : !gir.tile<vec, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}

// -----

// A sync in front of the wait does not order what lands there.
gir.kernel @sync_too_early(%x : !gir.view<dram, f32, [256]> in, %y : !gir.view<dram, f32, [256]> out) dims() grid() units(%u, 4) {
  %near = gir.alloc owner("group") : !gir.view<shared, f32, [256]>
  %own = gir.index affine_map<(d0) -> (d0 * 64)>(%u)
  %from = gir.slice %x[%own] cols(0) : !gir.view<dram, f32, [256]> -> !gir.slice<dram, f32, [1, 64]>
  %mine = gir.slice %near[%own] cols(0) : !gir.view<shared, f32, [256]> -> !gir.slice<shared, f32, [1, 64]>
  gir.async_copy %from, %mine : !gir.slice<dram, f32, [1, 64]>, !gir.slice<shared, f32, [1, 64]>
  gir.async_commit
  gir.sync
  gir.async_wait 0
  %across = gir.index affine_map<(d0) -> (192 - d0 * 64)>(%u)
  %theirs = gir.slice %near[%across] cols(0) : !gir.view<shared, f32, [256]> -> !gir.slice<shared, f32, [1, 64]>
  // expected-error @below {{'gir.load' op reads elements of %near that another unit may have accessed: a gir.sync must stand between}}
  %t = gir.load %theirs : !gir.slice<shared, f32, [1, 64]> -> !gir.tile<vec, f32, [1, 64]>
  %to = gir.slice %y[%own] cols(0) : !gir.view<dram, f32, [256]> -> !gir.slice<dram, f32, [1, 64]>
  gir.store %t, %to : !gir.tile<vec, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
}

// -----

// The next trip's copy begins while other units may still read what the trip has.
gir.kernel @begun_too_early(%x : !gir.view<dram, f32, [N, 256]> in, %y : !gir.view<dram, f32, [N, 256]> out)
    dims(%N : [1, 100]) grid() units(%u, 4) {
  %zero = arith.constant 0 : index
  %near = gir.alloc owner("group") : !gir.view<shared, f32, [256]>
  %own = gir.index affine_map<(d0) -> (d0 * 64)>(%u)
  %mine = gir.slice %near[%own] cols(0) : !gir.view<shared, f32, [256]> -> !gir.slice<shared, f32, [1, 64]>
  %first = gir.slice %x[%zero, %own] rows(0) cols(1) : !gir.view<dram, f32, [N, 256]> -> !gir.slice<dram, f32, [1, 64]>
  gir.async_copy %first, %mine zeros : !gir.slice<dram, f32, [1, 64]>, !gir.slice<shared, f32, [1, 64]>
  gir.async_commit
  gir.for %i = %zero to %N {
    gir.async_wait 0
    gir.sync
    %across = gir.index affine_map<(d0) -> (192 - d0 * 64)>(%u)
    %theirs = gir.slice %near[%across] cols(0) : !gir.view<shared, f32, [256]> -> !gir.slice<shared, f32, [1, 64]>
    %t = gir.load %theirs : !gir.slice<shared, f32, [1, 64]> -> !gir.tile<vec, f32, [1, 64]>
    %next = gir.index affine_map<(d0) -> (d0 + 1)>(%i)
    %from = gir.slice %x[%next, %own] rows(0) cols(1) : !gir.view<dram, f32, [N, 256]> -> !gir.slice<dram, f32, [1, 64]>
    // expected-error @below {{'gir.async_copy' op writes elements of %near that another unit may have accessed: a gir.sync must stand between}}
    gir.async_copy %from, %mine zeros : !gir.slice<dram, f32, [1, 64]>, !gir.slice<shared, f32, [1, 64]>
    gir.async_commit
    %to = gir.slice %y[%i, %own] cols(1) : !gir.view<dram, f32, [N, 256]> -> !gir.slice<dram, f32, [1, 64]>
    gir.store %t, %to : !gir.tile<vec, f32, [1, 64]>, !gir.slice<dram, f32, [1, 64]>
  }
  gir.async_wait 0
}
