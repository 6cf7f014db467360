// What is malformed, with its place.
// RUN: sutura-opt %s --split-input-file --verify-diagnostics

func.func private @no_primitive() attributes {trace = #schedule.trace<
// expected-error @+1 {{expected a primitive: split, retile, fuse, join, reorder, bind, vectorize, tile_rows, compute_at, cache_read, pack, set_space, set_layout, hoist, online, split_reduction, accumulate, tensorize, pipeline, unroll, inside, reach, threads, stream, defer, keep, home, prefetch, together, version, or '>'}}
interchange d0 of p:0>}

// -----

func.func private @not_a_word() attributes {trace = #schedule.trace<
// expected-error @+1 {{expected a primitive: split, retile, fuse, join, reorder, bind, vectorize, tile_rows, compute_at, cache_read, pack, set_space, set_layout, hoist, online, split_reduction, accumulate, tensorize, pipeline, unroll, inside, reach, threads, stream, defer, keep, home, prefetch, together, version, or '>'}}
4>}

// -----

func.func private @version() attributes {trace = #schedule.trace<version
// expected-error @+1 {{expected 'when' or the number of a version, which is at least 0}}
d0>}

// -----

func.func private @of_version() attributes {trace = #schedule.trace<version 0 {
// expected-error @+1 {{expected 'when'}}
version 1 {} }>}

// -----

func.func private @no_loop() attributes {trace = #schedule.trace<split
// expected-error @+1 {{expected a loop, such as 'd0' or 'd0.1'}}
p:0>}

// -----

func.func private @half_a_loop() attributes {trace = #schedule.trace<split
// expected-error @+1 {{expected a loop, such as 'd0' or 'd0.1'}}
d0.>}

// -----

func.func private @huge_dim() attributes {trace = #schedule.trace<split
// expected-error @+1 {{expected a loop, such as 'd0' or 'd0.1'}}
d99999999999999999999 of p:0>}

// -----

func.func private @no_of() attributes {trace = #schedule.trace<split d0
// expected-error @+1 {{expected 'of'}}
by 4>}

// -----

func.func private @no_stage() attributes {trace = #schedule.trace<split d0 of
// expected-error @+1 {{expected a stage, such as 'max:0'}}
4:0>}

// -----

func.func private @huge_stage() attributes {trace = #schedule.trace<split d0 of p:
// expected-error @+1 {{integer value too large}}
9223372036854775808 by 4>}

// -----

func.func private @no_part() attributes {trace = #schedule.trace<split d0 of p:0
// expected-error @+1 {{expected 'by' or 'even'}}
at 4>}

// -----

func.func private @no_number() attributes {trace = #schedule.trace<retile d0 of p:0 by
// expected-error @+1 {{expected integer value}}
d0>}

// -----

func.func private @no_kernel() attributes {trace = #schedule.trace<retile d0 of p:0 kernel
// expected-error @+1 {{expected the number of a kernel, which is at least 0}}
-1 by 4>}

// -----

func.func private @fuse_loops() attributes {trace = #schedule.trace<fuse d0 d0.1
// expected-error @+1 {{expected 'of'}}
join d0 d1>}

// -----

func.func private @join() attributes {trace = #schedule.trace<join d0
// expected-error @+1 {{expected a dim, such as 'd0'}}
s:1>}

// -----

func.func private @bind() attributes {trace = #schedule.trace<bind d0 of p:0 to
// expected-error @+1 {{expected 'grid', 'units' or 'turn'}}
threads>}

// -----

func.func private @no_to() attributes {trace = #schedule.trace<bind d0 of p:0
// expected-error @+1 {{expected 'to'}}
grid>}

// -----

func.func private @compute_at() attributes {trace = #schedule.trace<compute_at p:0
// expected-error @+1 {{expected 'in'}}
d0 of p:0>}

// -----

func.func private @no_input() attributes {trace = #schedule.trace<cache_read p:0
// expected-error @+1 {{expected '.'}}
in l1 at d0 of p:0>}

// -----

func.func private @pack() attributes {trace = #schedule.trace<pack p:0.1 over d1
// expected-error @+1 {{expected a loop, such as 'd0' or 'd0.1'}}
by 4>}

// -----

func.func private @layout() attributes {trace = #schedule.trace<set_layout p:0
// expected-error @+1 {{expected 'padded', 'unpadded' or 'pitch'}}
swizzled>}

// -----

func.func private @parts() attributes {trace = #schedule.trace<split_reduction s:1
// expected-error @+1 {{expected 'along' or 'columnwise'}}
by 4>}

// -----

func.func private @guard() attributes {trace = #schedule.trace<version when
// expected-error @+1 {{expected '['}}
N>}

// -----

// expected-error @+1 {{a coefficient, a constant or a divisor of the size does not fit 64 bits}}
func.func private @huge_guard() attributes {trace = #schedule.trace<version when [9223372036854775807 * N +
N]>}
