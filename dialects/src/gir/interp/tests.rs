//! Kernels that run, what they count, and every rule that they can break.

use sutura_interp::{Buffer, FaultKind, InterpError, Interpreter, Random, Tensor, Value as Data};
use sutura_ir::{Context, Module};

use super::{Counters, Options, run_kernel, run_kernel_op};
use crate::gir::constraints::{Axis, Scope};
use crate::gir::kernel::Mode;
use crate::gir::kinds::{BinaryKind, Combiner, UnaryKind};
use crate::gir::testing::*;

fn numbers(len: usize, seed: u64) -> Vec<f32> {
    let mut random = Random::new(seed);
    (0..len).map(|_| (random.unit() * 4.0 - 2.0) as f32).collect()
}

fn out(len: usize) -> Buffer {
    Buffer::undefined(sutura_interp::DType::F32, len)
}

fn run(cx: &Context, module: &Module, buffers: &mut [Buffer], dims: &[i64]) -> Result<Counters, InterpError> {
    assert_eq!(errors(cx, module), [""; 0], "the kernel verifies");
    run_kernel(cx, module, "k", buffers, dims)
}

/// Rows of `[M, N]` through softmax, each row held in a tile.
fn softmax(cx: &Context) -> Module {
    let header = Header {
        views: vec![("M, N", Mode::In), ("M, N", Mode::Out)],
        dims: vec![("M", 0, 1 << 31), ("N", 1, 1 << 13)],
        grid: "M",
        ..Header::default()
    };
    one(cx, &header, |k| {
        let (zero, row, ty) = (k.c(0), k.grid[0], k.l1("1", "N"));
        let s = k.slice(k.views[0], &[row, zero], (None, "1"), (Some(1), "N"));
        let x = k.load(s, ty);
        let max = k.reduce(Combiner::Max, Axis::Cols, x);
        let max = k.broadcast(max, x);
        let shifted = k.binary(BinaryKind::Sub, x, max);
        let e = k.unary(UnaryKind::Exp, shifted);
        let sum = k.reduce(Combiner::Add, Axis::Cols, e);
        let sum = k.broadcast(sum, e);
        let y = k.binary(BinaryKind::Div, e, sum);
        let d = k.slice(k.views[1], &[row, zero], (None, "1"), (Some(1), "N"));
        k.store(y, d);
    })
}

#[test]
fn a_resident_softmax_moves_its_data_once() {
    let cx = context();
    let module = softmax(&cx);
    let (m, n) = (5, 37);
    let x = numbers(m * n, 1);
    let mut buffers = [Buffer::from_f32(x.clone()), out(m * n)];
    let counters = run(&cx, &module, &mut buffers, &[m as i64, n as i64]).unwrap();
    let y = buffers[1].as_f32().unwrap();
    for (x, y) in x.chunks(n).zip(y.chunks(n)) {
        let max = x.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let sum: f64 = x.iter().map(|v| f64::from(v - max).exp()).sum();
        for (x, y) in x.iter().zip(y) {
            assert!((f64::from(x - max).exp() / sum - f64::from(*y)).abs() < 1e-6);
        }
    }
    let bytes = (m * n * 4) as u64;
    let dram = counters.space("dram");
    assert_eq!((dram.read, dram.written), (bytes, bytes));
    assert_eq!((counters.launches, counters.groups, counters.flops), (1, m as u64, (5 * m * n) as u64));
    // The row, and the row that follows from it: broadcasts are not held.
    assert_eq!(counters.space("l1").peak, (n * 4) as u64 + 4);
}

#[test]
fn an_empty_grid_launches_nothing() {
    let cx = context();
    let counters = run(&cx, &softmax(&cx), &mut [out(0), out(0)], &[0, 7]).unwrap();
    assert_eq!((counters.groups, counters.moved("dram")), (0, 0));
}

/// `[M, K] . [K, N] + bias` in tiles of 4 by 8.
fn product(cx: &Context) -> Module {
    let header = Header {
        views: vec![("M, K", Mode::In), ("K, N", Mode::In), ("N", Mode::In), ("M, N", Mode::Out)],
        dims: vec![("M", 0, 4096), ("K", 0, 4096), ("N", 0, 4096)],
        grid: "(M + 3) floordiv 4, (N + 7) floordiv 8",
        ..Header::default()
    };
    one(cx, &header, |k| {
        let (i, j) = (k.index(&[(k.grid[0], 4)], 0), k.index(&[(k.grid[1], 8)], 0));
        let acc = k.fill(0.0, k.vec(4, 8));
        let (zero, depth) = (k.c(0), k.dims[1]);
        let (a, b) = (k.views[0], k.views[1]);
        let sums = k.for_loop(zero, depth, &[acc], |k, at, carried| {
            let (ta, tb) = (k.vec(4, 1), k.vec(1, 8));
            let s = k.slice(a, &[i, at], (Some(0), "4"), (None, "1"));
            let x = k.load(s, ta);
            let s = k.slice(b, &[at, j], (None, "1"), (Some(1), "8"));
            let y = k.load(s, tb);
            vec![k.contract(x, y, carried[0])]
        });
        let s = k.slice(k.views[2], &[j], (None, "1"), (Some(0), "8"));
        let bias = k.load(s, k.vec(1, 8));
        let bias = k.broadcast(bias, sums[0]);
        let y = k.binary(BinaryKind::Add, sums[0], bias);
        let s = k.slice(k.views[3], &[i, j], (Some(0), "4"), (Some(1), "8"));
        k.store(y, s);
    })
}

#[test]
fn a_product_is_right_at_every_edge() {
    let cx = context();
    let module = product(&cx);
    for (m, d, n) in [(1, 1, 1), (4, 3, 8), (5, 7, 9), (11, 2, 17), (3, 0, 5), (0, 4, 4)] {
        let (a, b, bias) = (numbers(m * d, 1), numbers(d * n, 2), numbers(n, 3));
        let mut buffers =
            [Buffer::from_f32(a.clone()), Buffer::from_f32(b.clone()), Buffer::from_f32(bias.clone()), out(m * n)];
        let counters = run(&cx, &module, &mut buffers, &[m as i64, d as i64, n as i64]).unwrap();
        let expected = (0..m * n).map(|at| {
            let (i, j) = (at / n, at % n);
            (0..d).fold(0.0f32, |s, k| a[i * d + k].mul_add(b[k * n + j], s)) + bias[j]
        });
        assert_eq!(buffers[3].as_f32().unwrap(), expected.collect::<Vec<_>>());
        assert_eq!(counters.space("dram").written, (m * n * 4) as u64);
        if d > 0 {
            assert_eq!(counters.flops, (2 * m * d * n + m * n) as u64, "only elements that exist count");
        }
    }
}

#[test]
fn the_order_of_groups_does_not_matter() {
    let cx = context();
    let module = product(&cx);
    let kernel = module.op_ref(&cx).region(0).unwrap().entry().unwrap().ops().next().unwrap();
    let run = |seed| {
        let mut buffers = [numbers(9 * 5, 1), numbers(5 * 30, 2), numbers(30, 3)].map(Buffer::from_f32).to_vec();
        buffers.push(out(9 * 30));
        let options = Options { seed, ..Options::default() };
        run_kernel_op(kernel, None, &mut buffers, &[9, 5, 30], &options).unwrap();
        buffers.pop().unwrap()
    };
    assert_eq!(run(1), run(99));
}

/// `[K, N]` into panels `[(N + 15) floordiv 16, K, 16]` of a width that divides N.
#[test]
fn packing_is_fast() {
    let cx = context();
    let header = Header {
        views: vec![("K, 16*P", Mode::In), ("P, K, 16", Mode::Out)],
        dims: vec![("K", 0, 4096), ("P", 0, 4096)],
        grid: "P",
        ..Header::default()
    };
    let module = one(&cx, &header, |k| {
        let (zero, depth, panel) = (k.c(0), k.dims[0], k.grid[0]);
        let column = k.index(&[(panel, 16)], 0);
        let (from, to) = (k.views[0], k.views[1]);
        k.for_loop(zero, depth, &[], |k, at, _| {
            let s = k.slice(from, &[at, column], (None, "1"), (Some(1), "16"));
            let x = k.load(s, k.vec(1, 16));
            let s = k.slice(to, &[panel, at, zero], (None, "1"), (Some(2), "16"));
            k.store(x, s);
            vec![]
        });
    });
    let b = numbers(256 * 1024, 5);
    let mut buffers = [Buffer::from_f32(b.clone()), out(256 * 1024)];
    let counters = run(&cx, &module, &mut buffers, &[256, 64]).unwrap();
    let packed = buffers[1].as_f32().unwrap();
    assert!((0..packed.len()).all(|at| {
        let (p, k, c) = (at / (256 * 16), at / 16 % 256, at % 16);
        packed[at] == b[k * 1024 + p * 16 + c]
    }));
    assert_eq!(counters.moved("dram"), 2 * 256 * 1024 * 4);
}

/// Runs a kernel on `x: [N] in, y: [N] out` with N = 8 that must fault.
fn faults(header: &Header<'_>, build: impl FnOnce(&mut K<'_>), kind: FaultKind, words: &str) {
    let cx = context();
    let module = one(&cx, header, build);
    let mut buffers = [Buffer::from_f32(numbers(8, 1)), out(8)];
    let before = buffers.clone();
    let error = run_kernel(&cx, &module, "k", &mut buffers, &[8]).unwrap_err();
    assert!(error.kind() == kind && error.to_string().contains(words), "{:?}: {error}", error.kind());
    assert_eq!(buffers, before, "a fault leaves the buffers as they were");
}

fn vectors(grid: &str) -> Header<'_> {
    Header { views: vec![("N", Mode::In), ("N", Mode::Out)], dims: vec![("N", 0, 100)], grid, ..Header::default() }
}

/// Copies four elements from `x[from]` to `y[to]`.
fn copy(k: &mut K<'_>, from: i64, to: i64) {
    let (from, to, ty) = (k.index(&[(k.grid[0], 4)], from), k.index(&[(k.grid[0], 4)], to), k.vec(1, 4));
    let s = k.slice(k.views[0], &[from], (None, "1"), (Some(0), "4"));
    let x = k.load(s, ty);
    let s = k.slice(k.views[1], &[to], (None, "1"), (Some(0), "4"));
    k.store(x, s);
}

#[test]
fn elements_are_written_exactly_once() {
    faults(&vectors("2"), |k| copy(k, 0, -2), FaultKind::Assertion, "never writes element [6] of view 1 (2 elements");
    faults(&vectors("1"), |k| copy(k, 4, 4), FaultKind::Assertion, "never writes element [0]");
    let twice = |k: &mut K<'_>| {
        copy(k, 0, 0);
        copy(k, 0, 0);
    };
    faults(&vectors("2"), twice, FaultKind::Assertion, "of view 1 a second time");
}

#[test]
fn fixed_indices_stay_in_range() {
    let fixed = |at: i64| {
        move |k: &mut K<'_>| {
            let at = k.c(at);
            let s = k.slice(k.views[0], &[at], (None, "1"), (None, "1"));
            k.load(s, k.vec(1, 1));
        }
    };
    let header = vectors("1");
    faults(&header, fixed(8), FaultKind::OutOfBounds, "index 8 of dimension 0 lies outside its size 8 (group [0])");
    faults(&header, fixed(-1), FaultKind::OutOfBounds, "index -1");
}

#[test]
fn windows_must_be_equal() {
    let build = |k: &mut K<'_>| {
        let (zero, three, ty) = (k.c(0), k.c(3), k.vec(1, 8));
        let s = k.slice(k.views[0], &[zero], (None, "1"), (Some(0), "8"));
        let x = k.load(s, ty);
        let s = k.slice(k.views[0], &[three], (None, "1"), (Some(0), "8"));
        let y = k.load(s, ty);
        k.binary(BinaryKind::Add, x, y);
    };
    faults(&vectors("1"), build, FaultKind::ShapeMismatch, "[0, 1) x [0, 8) and [0, 1) x [0, 5)");
}

#[test]
fn only_what_exists_is_stored_or_combined() {
    let partial = |k: &mut K<'_>| {
        let (three, ty) = (k.c(3), k.vec(1, 8));
        let s = k.slice(k.views[0], &[three], (None, "1"), (Some(0), "8"));
        let x = k.load(s, ty);
        let everywhere = k.fill(0.0, ty);
        k.broadcast(x, everywhere)
    };
    let store = |k: &mut K<'_>| {
        let (x, zero) = (partial(k), k.c(0));
        let s = k.slice(k.views[1], &[zero], (None, "1"), (Some(0), "8"));
        k.store(x, s);
    };
    faults(&vectors("1"), store, FaultKind::Uninitialised, "stores elements of the window [0, 1) x [0, 8)");
    let reduce = |k: &mut K<'_>| {
        let x = partial(k);
        k.reduce(Combiner::Add, Axis::Cols, x);
    };
    faults(&vectors("1"), reduce, FaultKind::Uninitialised, "combines elements");
}

/// Each of four units writes its two elements to the group's memory, and reads its neighbour's.
fn exchange(sync: bool) -> impl Fn(&mut K<'_>) {
    move |k| {
        let (unit, ty) = (k.unit.unwrap(), k.vec(1, 2));
        let buffer = k.alloc("l1", "8", Scope::Group);
        let mine = k.index(&[(unit, 2)], 0);
        let theirs = k.index(&[(unit, -2)], 6);
        let s = k.slice(k.views[0], &[mine], (None, "1"), (Some(0), "2"));
        let x = k.load(s, ty);
        let s = k.slice(buffer, &[mine], (None, "1"), (Some(0), "2"));
        k.store(x, s);
        if sync {
            k.sync();
        }
        let s = k.slice(buffer, &[theirs], (None, "1"), (Some(0), "2"));
        let x = k.load(s, ty);
        let s = k.slice(k.views[1], &[mine], (None, "1"), (Some(0), "2"));
        k.store(x, s);
    }
}

#[test]
fn units_exchange_data_after_a_sync() {
    let cx = context();
    let header = Header { units: 4, ..vectors("1") };
    let module = one(&cx, &header, exchange(true));
    let mut buffers = [Buffer::from_f32((0..8).map(|i| i as f32).collect()), out(8)];
    run_kernel(&cx, &module, "k", &mut buffers, &[8]).unwrap();
    assert_eq!(buffers[1].as_f32().unwrap(), [6.0, 7.0, 4.0, 5.0, 2.0, 3.0, 0.0, 1.0]);

    // Whatever the order of the units: the element was written by another one, or not at all.
    let module = one(&cx, &header, exchange(false));
    for seed in 0..8 {
        let kernel = module.op_ref(&cx).region(0).unwrap().entry().unwrap().ops().next().unwrap();
        let mut buffers = [Buffer::from_f32(numbers(8, 1)), out(8)];
        let options = Options { seed, ..Options::default() };
        let error = run_kernel_op(kernel, None, &mut buffers, &[8], &options).unwrap_err();
        assert!(matches!(error.kind(), FaultKind::Assertion | FaultKind::Uninitialised), "{error}");
    }
}

/// Copies all of `x` to memory that holds ones, from `ahead` on, and takes it to `y`, with or without what must stand between.
fn copied(ahead: i64, zeros: bool, (before, behind): (Option<i64>, Option<i64>)) -> impl Fn(&mut K<'_>) {
    move |k| {
        let (zero, from, ty) = (k.c(0), k.c(ahead), k.vec(1, 8));
        let near = k.alloc("l1", "8", Scope::Unit);
        let to = k.slice(near, &[zero], (None, "1"), (Some(0), "8"));
        let ones = k.fill(1.0, ty);
        k.store(ones, to);
        let from = k.slice(k.views[0], &[from], (None, "1"), (Some(0), "8"));
        k.async_copy(from, to, zeros);
        before.into_iter().for_each(|pending| k.async_wait(pending));
        let x = k.load(to, ty);
        behind.into_iter().for_each(|pending| k.async_wait(pending));
        let s = k.slice(k.views[1], &[zero], (None, "1"), (Some(0), "8"));
        k.store(x, s);
    }
}

#[test]
fn what_is_copied_is_there_when_it_was_waited_for() {
    let cx = context();
    let header = vectors("1");
    let run_one = |ahead, zeros| {
        let eight = Header { views: vec![("8", Mode::In), ("8", Mode::Out)], ..vectors("1") };
        let module = one(&cx, &eight, copied(ahead, zeros, (Some(0), None)));
        let mut buffers = [Buffer::from_f32((2..10).map(|i| i as f32).collect()), out(8)];
        let counters = run(&cx, &module, &mut buffers, &[8]).unwrap();
        let dram = counters.space("dram").read;
        (buffers[1].as_f32().unwrap().to_vec(), dram)
    };
    assert_eq!(run_one(0, false), ((2..10).map(|i| i as f32).collect(), 32));
    assert_eq!(run_one(5, false), (vec![7.0, 8.0, 9.0, 1.0, 1.0, 1.0, 1.0, 1.0], 12));
    assert_eq!(run_one(5, true), (vec![7.0, 8.0, 9.0, 0.0, 0.0, 0.0, 0.0, 0.0], 12));
    // Kernels that no verifier has seen.
    let broken = |waits, words| faults(&header, copied(0, false, waits), FaultKind::Assertion, words);
    broken((None, Some(0)), "reads element 0 of the allocation, to which a copy is on its way");
    broken((Some(1), Some(0)), "reads element 0 of the allocation, to which a copy is on its way");
    faults(
        &header,
        |k| {
            copy(k, 0, 0);
            copy(k, 4, 4);
            let zero = k.c(0);
            let near = k.alloc("l1", "8", Scope::Unit);
            let to = k.slice(near, &[zero], (None, "1"), (Some(0), "8"));
            let from = k.slice(k.views[0], &[zero], (None, "1"), (Some(0), "8"));
            k.async_copy(from, to, false);
        },
        FaultKind::Assertion,
        "a unit ends while asynchronous copies are on their way: 1",
    );
}

#[test]
fn a_group_combines_across_units() {
    let cx = context();
    let header = Header { units: 4, ..vectors("1") };
    let module = one(&cx, &header, |k| {
        let (unit, ty) = (k.unit.unwrap(), k.vec(1, 2));
        let mine = k.index(&[(unit, 2)], 0);
        let s = k.slice(k.views[0], &[mine], (None, "1"), (Some(0), "2"));
        let x = k.load(s, ty);
        let sum = k.group_reduce(Combiner::Add, Axis::Cols, x);
        let sum = k.broadcast(sum, x);
        let s = k.slice(k.views[1], &[mine], (None, "1"), (Some(0), "2"));
        k.store(sum, s);
    });
    let mut buffers = [Buffer::from_f32((0..8).map(|i| i as f32).collect()), out(8)];
    run_kernel(&cx, &module, "k", &mut buffers, &[8]).unwrap();
    assert_eq!(buffers[1].as_f32().unwrap(), [28.0; 8]);
}

#[test]
fn the_header_is_checked() {
    let cx = context();
    let header = Header { requires: "N - 4", ..vectors("(N + 3) floordiv 4") };
    let module = one(&cx, &header, |k| copy(k, 0, 0));
    let run = |len: usize, dims: &[i64]| {
        let mut buffers = [Buffer::from_f32(numbers(len, 1)), out(len)];
        run_kernel(&cx, &module, "k", &mut buffers, dims).map_err(|e| e.to_string())
    };
    run(9, &[9]).unwrap();
    assert!(run(2, &[2]).unwrap_err().contains("requires N - 4 not to be negative, and it is -2"));
    assert!(run(101, &[101]).unwrap_err().contains("takes 'N' in [0, 100], not 101"));
    assert!(run(7, &[8]).unwrap_err().contains("does not fit a buffer of 7"));
    assert!(run(8, &[]).unwrap_err().contains("takes 1 sizes and got 0"));
}

#[test]
fn a_kernel_is_called_by_interpreted_programs() {
    let cx = context();
    let module = one(&cx, &vectors("(N + 3) floordiv 4"), |k| copy(k, 0, 0));
    let mut interp = Interpreter::new(&cx, &module);
    let x = Tensor::from_f32(numbers(10, 1), &[10]).unwrap();
    let y = interp.memory().alloc(sutura_interp::DType::F32, &[10], None).unwrap();
    for _ in 0..2 {
        interp.call("k", &[Data::Tensor(x.clone()), y.clone().into(), Data::index(10)]).unwrap();
    }
    assert_eq!(interp.memory().read(&y).unwrap(), x);
    let counters = interp.extension::<Counters>();
    assert_eq!((counters.launches, counters.groups, counters.space("dram").read), (2, 6, 80));
    let error = interp.call("k", &[y.clone().into(), y.into(), Data::index(10)]).unwrap_err();
    assert!(error.to_string().contains("views 0 and 1 share memory"), "{error}");
}
