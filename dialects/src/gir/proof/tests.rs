//! Each rule, kept and broken.

use sutura_ir::affine::AffineOp;
use sutura_ir::{Builder, Module, Type, Value};

use crate::gir::constraints::{Axis, Scope};
use crate::gir::kernel::Mode;
use crate::gir::kinds::{BinaryKind, Combiner, UnaryKind};
use crate::gir::testing::*;
use crate::target::constraints::{Class, Owner};

fn verified(header: &Header<'_>, build: impl FnOnce(&mut K<'_>)) -> Vec<String> {
    let cx = context();
    let module = one(&cx, header, build);
    errors(&cx, &module)
}

fn holds(header: &Header<'_>, build: impl FnOnce(&mut K<'_>)) {
    assert_eq!(verified(header, build), [""; 0]);
}

/// The verifier reports one error, with these words.
fn broken(header: &Header<'_>, build: impl FnOnce(&mut K<'_>), words: &str) {
    let messages = verified(header, build);
    assert!(messages.len() == 1 && messages[0].contains(words), "{messages:#?}");
}

fn vectors(grid: &str) -> Header<'_> {
    Header { views: vec![("N", Mode::In), ("N", Mode::Out)], dims: vec![("N", 0, 1 << 20)], grid, ..Header::default() }
}

/// Loads `cols` elements of a view from an offset on.
fn load(k: &mut K<'_>, view: usize, at: Value, cols: i64) -> Value {
    let (cols, ty) = (cols.to_string(), k.vec(1, cols));
    let s = k.slice(k.views[view], &[at], (None, "1"), (Some(0), &cols));
    k.load(s, ty)
}

fn store(k: &mut K<'_>, x: Value, view: usize, at: Value, cols: i64) {
    let s = k.slice(k.views[view], &[at], (None, "1"), (Some(0), &cols.to_string()));
    k.store(x, s);
}

/// Copies tiles of 64 elements at `4096 * lid + stride * pid`, 64 parts in parallel, each of two trips.
fn interleaved(stride: i64) -> impl Fn(&mut K<'_>) {
    move |k| {
        let (zero, two, pid) = (k.c(0), k.c(2), k.grid[0]);
        k.for_loop(zero, two, &[], |k, lid, _| {
            let at = k.index(&[(lid, 4096), (pid, stride)], 0);
            let x = load(k, 0, at, 64);
            store(k, x, 1, at, 64);
            vec![]
        });
    }
}

/// A loop of one trip advances as far as the grid, and whichever has the first name, it adds nothing.
#[test]
fn a_loop_that_runs_once_covers_no_more() {
    let header = Header { views: vec![("4096", Mode::In), ("4096", Mode::Out)], grid: "64", ..Header::default() };
    let once = |trips: i64, outside: usize| {
        move |k: &mut K<'_>| {
            let (zero, end) = (k.c(0), k.c(trips));
            // Names of later values come first in some orders.
            (0..outside).for_each(|_| {
                k.fill(0.0, k.vec(1, 64));
            });
            k.for_loop(zero, end, &[], |k, i, _| {
                let at = k.index(&[(i, 64), (k.grid[0], 64)], 0);
                let x = load(k, 0, at, 64);
                store(k, x, 1, at, 64);
                vec![]
            });
        }
    };
    (0..120).for_each(|outside| holds(&header, once(1, outside)));
    broken(&header, once(2, 0), "elements are written");
}

#[test]
fn tiles_that_overlap_or_leave_gaps_are_refused() {
    let header = Header { views: vec![("8192", Mode::In), ("8192", Mode::Out)], grid: "64", ..Header::default() };
    holds(&header, interleaved(64));
    broken(&header, interleaved(128), "advances by 128 where 64 elements are written");
    broken(&header, interleaved(32), "advances by 32 where 64 elements are written");
}

#[test]
fn the_grid_must_cover_the_view() {
    let tiles = |k: &mut K<'_>| {
        let at = k.index(&[(k.grid[0], 16)], 0);
        let x = load(k, 0, at, 16);
        store(k, x, 1, at, 16);
    };
    holds(&vectors("(N + 15) floordiv 16"), tiles);
    broken(&vectors("N floordiv 16"), tiles, "dimension 0 of size N is written from 0 to 16*(N floordiv 16)");
    holds(&Header { requires: "64 - N", ..vectors("4") }, tiles);
    holds(&Header { requires: "4 - (N + 15) floordiv 16", ..vectors("4") }, tiles);
    broken(&Header { requires: "5 - (N + 15) floordiv 16", ..vectors("4") }, tiles, "is written from 0 to 64");
    broken(&vectors("4"), tiles, "is written from 0 to 64");
    let shifted = |k: &mut K<'_>| {
        let at = k.index(&[(k.grid[0], 16)], 1);
        let x = load(k, 0, at, 16);
        store(k, x, 1, at, 16);
    };
    broken(&vectors("(N + 15) floordiv 16"), shifted, "is written from 1 to");
}

#[test]
fn every_index_counts_along_one_dimension() {
    let rows = |second: bool| {
        move |k: &mut K<'_>| {
            let (zero, i) = (k.c(0), k.grid[0]);
            let column = if second { k.grid[0] } else { zero };
            let (s, d) = (
                k.slice(k.views[0], &[i, column], (None, "1"), (Some(1), "32")),
                k.slice(k.views[1], &[i, column], (None, "1"), (Some(1), "32")),
            );
            let x = k.load(s, k.vec(1, 32));
            k.store(x, d);
        }
    };
    let header = Header {
        views: vec![("M, 32", Mode::In), ("M, 32", Mode::Out)],
        dims: vec![("M", 0, 100)],
        grid: "M",
        ..Header::default()
    };
    holds(&header, rows(false));
    broken(&header, rows(true), "along dimension 1");
    let idle = Header { grid: "M, 2", ..header.clone() };
    broken(&idle, rows(false), "counts along no dimension");
    holds(&Header { grid: "M, 1", ..header }, rows(false));
}

#[test]
fn out_views_are_written_and_not_read() {
    broken(&vectors("1"), |_| {}, "never writes view 1, which is an 'out' view");
    let tiles = |read: usize, write: usize| {
        move |k: &mut K<'_>| {
            let at = k.index(&[(k.grid[0], 16)], 0);
            let x = load(k, read, at, 16);
            store(k, x, write, at, 16);
        }
    };
    let header = vectors("(N + 15) floordiv 16");
    broken(&header, tiles(1, 1), "reads view 1, which is an 'out' view");
    let messages = verified(&header, tiles(0, 0));
    assert!(messages[0].contains("writes view 0, which is an 'in' view"), "{messages:?}");
}

#[test]
fn parts_that_follow_one_another_cover_a_view() {
    let concat = |second: &'static str| {
        let header = Header {
            views: vec![("A", Mode::In), ("B", Mode::In), ("A + B", Mode::Out)],
            dims: vec![("A", 0, 64), ("B", 0, 64)],
            ..Header::default()
        };
        (header, move |k: &mut K<'_>| {
            let (zero, a) = (k.c(0), k.dims[0]);
            for (view, at, cols) in [(0, zero, "A"), (1, a, second)] {
                let s = k.slice(k.views[view], &[zero], (None, "1"), (Some(0), cols));
                let x = k.load(s, k.l1("1", cols));
                let s = k.slice(k.views[2], &[at], (None, "1"), (Some(0), cols));
                k.store(x, s);
            }
        })
    };
    let (header, build) = concat("B");
    holds(&header, build);
    let (header, build) = concat("A");
    broken(&header, build, "dimension 0 of size A + B is written up to 2*A");
}

/// Copies element by element, in blocks of `step` from `step * grid` to the least of that plus `width` and `N + end`.
fn in_blocks(step: i64, width: i64, end: i64) -> impl Fn(&mut K<'_>) {
    move |k| {
        let lo = k.index(&[(k.grid[0], step)], 0);
        let hi = k.least(&[k.grid[0], k.dims[0]], |cx, dims| {
            let start = cx.affine_binary(AffineOp::Mul, dims[0], cx.affine_const(step));
            let add = |a, b| cx.affine_binary(AffineOp::Add, a, cx.affine_const(b));
            vec![add(start, width), add(dims[1], end)]
        });
        k.for_loop(lo, hi, &[], |k, i, _| {
            let x = load(k, 0, i, 1);
            store(k, x, 1, i, 1);
            vec![]
        });
    }
}

#[test]
fn blocks_of_which_the_last_ends_early_cover_a_view() {
    let header = vectors("(N + 15) floordiv 16");
    holds(&header, in_blocks(16, 16, 0));
    // One element is never written, or written by no block; blocks overlap; a block beyond the end would not be seen.
    broken(&header, in_blocks(16, 16, -1), "dimension 0 of size N is written from 0 to");
    broken(&header, in_blocks(16, 15, 0), "the trips of");
    broken(&header, in_blocks(8, 16, 0), "the trips of");
    broken(&vectors("N floordiv 16"), in_blocks(16, 16, 0), "dimension 0 of size N is written from 0 to");
}

#[test]
fn the_least_of_two_bounds_what_neither_does_alone() {
    // A fixed index is in range because the loop ends where the view does.
    let fixed = |end: i64| {
        move |k: &mut K<'_>| {
            let lo = k.index(&[(k.grid[0], 16)], 0);
            let hi = k.least(&[k.grid[0], k.dims[0]], |cx, dims| {
                let start = cx.affine_binary(AffineOp::Mul, dims[0], cx.affine_const(16));
                let add = |a, b| cx.affine_binary(AffineOp::Add, a, cx.affine_const(b));
                vec![add(start, 16), add(dims[1], end)]
            });
            k.for_loop(lo, hi, &[], |k, i, _| {
                let (s, ty) = (k.slice(k.views[0], &[i], (None, "1"), (None, "1")), k.vec(1, 1));
                let x = k.load(s, ty);
                let s = k.slice(k.views[1], &[i], (None, "1"), (None, "1"));
                k.store(x, s);
                vec![]
            });
        }
    };
    let header = vectors("(N + 15) floordiv 16");
    holds(&header, fixed(0));
    let messages = verified(&header, fixed(1));
    assert!(messages[0].contains("is not proven below its size N"), "{messages:#?}");
}

#[test]
fn fixed_indices_stay_in_range() {
    let fixed = |at: i64| {
        move |k: &mut K<'_>| {
            let i = k.index(&[(k.grid[0], 1)], at);
            let (s, ty) = (k.slice(k.views[0], &[i], (None, "1"), (None, "1")), k.vec(1, 1));
            let x = k.load(s, ty);
            let s = k.slice(k.views[1], &[k.grid[0]], (None, "1"), (None, "1"));
            k.store(x, s);
        }
    };
    holds(&vectors("N"), fixed(0));
    broken(&vectors("N"), fixed(1), "which is not proven below its size N: -1 may be negative");
    broken(&vectors("N"), fixed(-1), "which may be negative");
}

#[test]
fn a_guard_proves_what_ranges_do_not() {
    let pick = |k: &mut K<'_>| {
        let (seven, at) = (k.c(7), k.index(&[(k.grid[0], 16)], 0));
        let s = k.slice(k.views[0], &[seven], (None, "1"), (None, "1"));
        let x = k.load(s, k.vec(1, 1));
        let like = load(k, 0, at, 16);
        let x = k.broadcast(x, like);
        store(k, x, 1, at, 16);
    };
    let header = vectors("(N + 15) floordiv 16");
    broken(&header, pick, "index 7 of dimension 0 of view 0, which is not proven below its size N");
    holds(&Header { requires: "N - 8", ..header.clone() }, pick);
    holds(&Header { requires: "2*(N floordiv 4) - 3", ..header }, pick);
}

#[test]
fn windows_must_be_equal() {
    let sum = |second: i64| {
        move |k: &mut K<'_>| {
            let at = k.index(&[(k.grid[0], 16)], 0);
            let other = k.index(&[(k.grid[0], 16)], second);
            let (x, y) = (load(k, 0, at, 16), load(k, 0, other, 16));
            let z = k.binary(BinaryKind::Add, x, y);
            store(k, z, 1, at, 16);
        }
    };
    let header = vectors("(N + 15) floordiv 16");
    holds(&header, sum(0));
    broken(&header, sum(1), "windows are not proven equal: (rows all; columns i below");
}

#[test]
fn only_what_exists_is_stored_or_combined() {
    let last = |what: fn(&mut K<'_>, Value, Value)| {
        move |k: &mut K<'_>| {
            let at = k.index(&[(k.grid[0], 16)], 0);
            let x = load(k, 0, at, 16);
            what(k, x, at);
        }
    };
    let header = vectors("(N + 15) floordiv 16");
    let everywhere = |k: &mut K<'_>, x: Value| {
        let zeros = k.fill(0.0, k.vec(1, 16));
        k.broadcast(x, zeros)
    };
    // What does not exist is not stored either.
    holds(
        &header,
        last(|k, x, at| {
            let zeros = k.fill(0.0, k.vec(1, 16));
            let x = k.broadcast(x, zeros);
            store(k, x, 1, at, 16);
        }),
    );
    let build = |k: &mut K<'_>| {
        let at = k.index(&[(k.grid[0], 16)], 0);
        let x = load(k, 0, at, 16);
        let x = everywhere(k, x);
        let sum = k.reduce(Combiner::Add, Axis::Cols, x);
        let y = k.broadcast(sum, x);
        store(k, y, 1, at, 16);
    };
    broken(&header, build, "combines elements that may not exist");
    // Padding makes them exist.
    holds(&header, |k| {
        let at = k.index(&[(k.grid[0], 16)], 0);
        let s = k.slice(k.views[0], &[at], (None, "1"), (Some(0), "16"));
        let x = k.load_padded(s, 0.0, k.vec(1, 16));
        let sum = k.reduce(Combiner::Add, Axis::Cols, x);
        let y = k.broadcast(sum, x);
        store(k, y, 1, at, 16);
    });
}

#[test]
fn windows_of_carried_tiles_are_learnt() {
    // The window of the accumulator is known after the first trip only.
    let header = Header {
        views: vec![("M, N", Mode::In), ("N", Mode::Out)],
        dims: vec![("M", 0, 4096), ("N", 0, 4096)],
        grid: "(N + 15) floordiv 16",
        ..Header::default()
    };
    let sums = |step: i64| {
        move |k: &mut K<'_>| {
            let (at, zero, rows) = (k.index(&[(k.grid[0], 16)], 0), k.c(0), k.dims[0]);
            let start = k.fill(0.0, k.vec(1, 16));
            let sums = k.for_loop(zero, rows, &[start], |k, i, carried| {
                let column = k.index(&[(k.grid[0], 16), (i, step)], 0);
                let s = k.slice(k.views[0], &[i, column], (None, "1"), (Some(1), "16"));
                let x = k.load(s, k.vec(1, 16));
                vec![k.binary(BinaryKind::Add, carried[0], x)]
            });
            store(k, sums[0], 1, at, 16);
        }
    };
    holds(&header, sums(0));
    broken(&header, sums(1), "window changes from trip to trip: (rows all; columns all), then");
}

/// Each of four units writes to the group's memory and reads its neighbour's.
fn exchange(sync: bool, stride: i64) -> impl Fn(&mut K<'_>) {
    move |k| {
        let (unit, ty) = (k.unit.unwrap(), k.vec(1, 2));
        let buffer = k.alloc("l1", "8", Scope::Group);
        let (mine, theirs) = (k.index(&[(unit, 2)], 0), k.index(&[(unit, -2)], 6));
        let place = k.index(&[(unit, stride)], 0);
        let x = load(k, 0, mine, 2);
        let s = k.slice(buffer, &[place], (None, "1"), (Some(0), "2"));
        k.store(x, s);
        if sync {
            k.sync();
        }
        let s = k.slice(buffer, &[theirs], (None, "1"), (Some(0), "2"));
        let x = k.load(s, ty);
        store(k, x, 1, mine, 2);
    }
}

/// Each of four units writes a row of the group's memory, and reads a part of a row that is `rows` further.
fn own_row(rows: i64) -> impl Fn(&mut K<'_>) {
    move |k| {
        let (unit, ty) = (k.unit.unwrap(), k.vec(1, 2));
        let buffer = k.alloc("l1", "8, 4", Scope::Group);
        let (mine, zero, two) = (k.index(&[(unit, 2)], 0), k.c(0), k.c(2));
        let x = k.fill(1.0, k.vec(1, 4));
        let s = k.slice(buffer, &[unit, zero], (Some(0), "1"), (Some(1), "4"));
        k.store(x, s);
        let row = k.index(&[(unit, 1)], rows);
        let s = k.slice(buffer, &[row, two], (Some(0), "1"), (Some(1), "2"));
        let x = k.load(s, ty);
        store(k, x, 0, mine, 2);
    }
}

#[test]
fn a_unit_need_not_wait_for_a_row_of_its_own() {
    let header = Header { views: vec![("8", Mode::Out)], units: 4, grid: "1", ..Header::default() };
    holds(&header, own_row(0));
    broken(&header, own_row(1), "a gir.sync must stand between");
}

#[test]
fn units_exchange_data_after_a_sync() {
    let header = Header { views: vec![("8", Mode::In), ("8", Mode::Out)], units: 4, grid: "1", ..Header::default() };
    holds(&header, exchange(true, 2));
    broken(&header, exchange(false, 2), "a gir.sync must stand between");
    broken(&header, exchange(true, 1), "not proven to write other elements");
}

#[test]
fn a_loop_needs_a_sync_before_it_writes_again() {
    let header = Header {
        views: vec![("T, 8", Mode::In), ("T, 8", Mode::Out)],
        dims: vec![("T", 0, 9)],
        units: 4,
        ..Header::default()
    };
    let build = |second: bool| {
        move |k: &mut K<'_>| {
            let (zero, trips, unit, ty) = (k.c(0), k.dims[0], k.unit.unwrap(), k.vec(1, 2));
            let buffer = k.alloc("l1", "8", Scope::Group);
            let (mine, theirs) = (k.index(&[(unit, 2)], 0), k.index(&[(unit, -2)], 6));
            k.for_loop(zero, trips, &[], |k, t, _| {
                let s = k.slice(k.views[0], &[t, mine], (None, "1"), (Some(1), "2"));
                let x = k.load(s, ty);
                let s = k.slice(buffer, &[mine], (None, "1"), (Some(0), "2"));
                k.store(x, s);
                k.sync();
                let s = k.slice(buffer, &[theirs], (None, "1"), (Some(0), "2"));
                let x = k.load(s, ty);
                let s = k.slice(k.views[1], &[t, mine], (None, "1"), (Some(1), "2"));
                k.store(x, s);
                if second {
                    k.sync();
                }
                vec![]
            });
        }
    };
    holds(&header, build(true));
    broken(&header, build(false), "writes elements of value");
}

/// A module with a machine of small spaces, and the kernel.
fn on_machine(header: &Header<'_>, build: impl FnOnce(&mut K<'_>)) -> Vec<String> {
    let cx = context();
    let mut module = Module::new(&cx, L);
    let block = module.body().entry_block().unwrap();
    let mut b = Builder::at_end(&cx, module.body_mut(), block);
    crate::target::testing::machine(
        &mut b,
        &[
            ("vec", Class::Reg, Owner::Unit, Some(512)),
            ("l1", Class::Sram, Owner::Unit, Some(4096)),
            ("dram", Class::Dram, Owner::All, None),
        ],
    );
    kernel(&cx, &mut module, "k", header, build);
    errors(&cx, &module)
}

#[test]
fn spaces_are_not_overfull() {
    let rows = |k: &mut K<'_>| {
        let (zero, row, ty) = (k.c(0), k.grid[0], k.l1("1", "N"));
        let s = k.slice(k.views[0], &[row, zero], (None, "1"), (Some(1), "N"));
        let x = k.load(s, ty);
        let max = k.reduce(Combiner::Max, Axis::Cols, x);
        let max = k.broadcast(max, x);
        let shifted = k.binary(BinaryKind::Sub, x, max);
        let e = k.unary(UnaryKind::Exp, shifted);
        let d = k.slice(k.views[1], &[row, zero], (None, "1"), (Some(1), "N"));
        k.store(e, d);
    };
    let header = Header {
        views: vec![("M, N", Mode::In), ("M, N", Mode::Out)],
        dims: vec![("M", 0, 1 << 20), ("N", 0, 1 << 20)],
        grid: "M",
        ..Header::default()
    };
    let messages = on_machine(&header, rows);
    assert!(messages.len() == 1 && messages[0].contains("bytes in space 'l1' of @m, which has 4096"), "{messages:?}");
    assert_eq!(on_machine(&Header { requires: "1023 - N", ..header.clone() }, rows), [""; 0]);
    let messages = on_machine(&Header { requires: "1024 - N", ..header }, rows);
    assert!(messages[0].contains("holds up to 4100 bytes"), "the row and its maximum: {messages:?}");
}

#[test]
fn spaces_must_be_the_targets() {
    let tile = |space: &'static str| {
        move |k: &mut K<'_>| {
            let ty = k.tile_type(space, Type::F32, "1", "16");
            let at = k.index(&[(k.grid[0], 16)], 0);
            let s = k.slice(k.views[0], &[at], (None, "1"), (Some(0), "16"));
            let x = k.load(s, ty);
            store(k, x, 1, at, 16);
        }
    };
    let header = vectors("(N + 15) floordiv 16");
    assert_eq!(on_machine(&header, tile("vec")), [""; 0]);
    let messages = on_machine(&header, tile("tmem"));
    assert!(messages[0].contains("space 'tmem', which the target @m does not have"), "{messages:?}");
}

#[test]
fn headers_are_sound() {
    let nothing = |_: &mut K<'_>| {};
    let header = |dims| Header { dims, ..Header::default() };
    broken(&header(vec![("N", 5, 4)]), nothing, "states 'N' in [5, 4]");
    broken(&header(vec![("N", -1, 4)]), nothing, "states 'N' in [-1, 4]");
    broken(&header(vec![("N", 0, 4), ("N", 0, 4)]), nothing, "states 'N' twice");
    broken(&Header { grid: "M", ..header(vec![("N", 0, 4)]) }, nothing, "uses the size M, but 'M' is no dim");
}

#[test]
fn an_index_that_runs_backward_covers_what_it_would_forward() {
    let copies = |last: i64| {
        move |k: &mut K<'_>| {
            let (zero, n) = (k.c(0), k.dims[0]);
            k.for_loop(zero, n, &[], |k, trip, _| {
                let at = k.index(&[(n, 1), (trip, -1)], last);
                let x = load(k, 0, at, 1);
                store(k, x, 1, at, 1);
                vec![]
            });
        }
    };
    holds(&vectors(""), copies(-1));
    broken(&vectors(""), copies(0), "is written from 1 to N + 1");
}
