//! Random programs with reshapes between ops of all kinds: what they compute stays the same, to the bit.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::graph::build::scalar::Comparison;
use sutura_dialects::graph::build::{Built, ComputeInput, ComputeResult, GraphBuilder, PadKind};
use sutura_dialects::graph::{Combiner, IteratorKind};
use sutura_interp::Tolerance;
use sutura_interp::random::Random;
use sutura_ir::{Context, Module, Type, Value};

use crate::testing::{agree, any, context, copy, function, run, size, tensor, text};

const PASS: &str = "builtin.module(propagate-reshapes)";

/// All shapes that the values of a program have, up to the order of their dimensions.
const FORMS: &[&[&str]] = &[
    &["M", "12", "N"],
    &["M", "3", "4", "N"],
    &["12*M", "N"],
    &["M", "12*N"],
    &["M", "2", "6*N"],
    &["M", "6", "2", "1", "N"],
    &["4*M", "3*N"],
    &["12*M*N"],
    &["M", "4", "N", "3"],
    &["M", "12", "N", "1"],
];

fn below(random: &mut Random, most: usize) -> usize {
    (random.next_u64() >> 32) as usize % most
}

fn form(random: &mut Random) -> Vec<Option<Poly>> {
    FORMS[below(random, FORMS.len())].iter().map(|s| Some(size(s))).collect()
}

/// What depends on the index along a dimension.
fn by_index(g: &mut GraphBuilder<'_, '_>, x: Value, axis: usize) -> Value {
    let shape = g.shape(x);
    let rank = shape.len();
    let inputs = vec![ComputeInput { value: x, index: g.dims(0..rank), oob: None }];
    let results = vec![ComputeResult { shape, elem: Type::F32, index: g.dims(0..rank), combiner: None }];
    let op = g.compute(&vec![IteratorKind::Parallel; rank], inputs, results, |s, args| {
        let (at, one) = (s.index(axis), s.int(1, Type::INDEX));
        let later = s.compare(Comparison::GreaterOrEqual, at, one);
        let negated = s.neg(args[0]);
        vec![s.select(later, negated, args[0])]
    });
    g.b.body().result(op, 0)
}

/// One op on values of `12 * M * N` elements.
fn step(g: &mut GraphBuilder<'_, '_>, random: &mut Random, values: &[Value], row: Value, square: Value) -> Built {
    // Recent values, so that programs are deep.
    let a = values[values.len() - 1 - below(random, values.len().min(4))];
    let shape = g.shape(a);
    let (rank, axis) = (shape.len(), below(random, shape.len()));
    let last = shape[rank - 1] == Some(size("N"));
    match below(random, 14) {
        0..=3 => {
            let form = form(random);
            g.reshape_to(a, &form)
        }
        4 => g.map(a, |s, x| {
            let half = s.number(0.5, s.ty(x));
            s.mul(x, half)
        }),
        5 | 6 => {
            let b = values[below(random, values.len())];
            let b = g.reshape_to(b, &shape)?;
            g.zip(a, b, |s, a, b| s.sub(a, b))
        }
        7 => {
            let mut order: Vec<usize> = (0..rank).collect();
            (1..rank).for_each(|i| order.swap(i, below(random, i + 1)));
            g.transpose(a, &order)
        }
        8 => {
            let bounded = g.map(a, |s, x| s.math("math.tanh", x))?;
            let combiner = [Combiner::Add, Combiner::Max][below(random, 2)];
            let sum = g.reduce(bounded, &[axis], true, combiner, Type::F32, |_, x| x);
            g.zip(a, sum, |s, a, b| s.sub(a, b))
        }
        9 => {
            let (mut before, mut after) = (vec![Poly::default(); rank], vec![Poly::default(); rank]);
            (before[axis], after[axis]) = (1.into(), (-1).into());
            let number = PadKind::Constant(g.cx().float_attr(0.25, Type::F32));
            g.pad(a, &before, &after, number)
        }
        10 if last => g.zip(a, row, |s, a, b| s.add(a, b)),
        11 if last => {
            let bounded = g.map(a, |s, x| s.math("math.tanh", x))?;
            g.matmul(bounded, square)
        }
        12 => Ok(by_index(g, a, axis)),
        _ => {
            let apart = g.unsqueeze(a, &[axis])?;
            let bounded = g.map(apart, |s, x| s.math("math.tanh", x))?;
            g.squeeze(bounded, &[axis])
        }
    }
}

fn program(cx: &Context, seed: u64, steps: usize) -> Module {
    let types = [&["M", "12", "N"][..], &["12*M", "N"], &["N"], &["N", "N"]].map(|s| tensor(cx, s, Type::F32));
    function(cx, &[("M", any()), ("N", any())], &types, |g, args| {
        let mut random = Random::new(seed);
        let mut values = vec![args[0], args[1]];
        for _ in 0..steps {
            let value = step(g, &mut random, &values, args[2], args[3])?;
            values.push(value);
        }
        Ok(values.split_off(values.len() - 3))
    })
}

const SIZES: &[(i64, i64)] = &[(1, 5), (2, 3), (0, 4), (3, 0), (2, 1)];

#[test]
fn what_is_computed_stays_the_same() {
    let cx = context();
    let (mut propagated, mut kept) = (0, 0);
    for seed in 0..200 {
        let before = program(&cx, seed, 4 + seed as usize % 9);
        let mut after = copy(&cx, &before);
        let said = run(&cx, &mut after, PASS).unwrap_or_else(|e| panic!("{seed}: {e:?}\n{}", text(&cx, &before)));
        propagated += said.iter().filter(|line| line.contains("is read as")).count();
        kept += said.iter().filter(|line| line.contains("stays a reshape")).count();
        let (m, n) = SIZES[seed as usize % SIZES.len()];
        let what = format!("seed {seed}\n{}", text(&cx, &before));
        agree(&cx, (&before, &after), &[("M", m), ("N", n)], Tolerance::EXACT, &what);
        // The same input, the same output; and nothing is left to do.
        let (once, mut again) = (text(&cx, &after), copy(&cx, &before));
        run(&cx, &mut again, PASS).expect("as before");
        assert_eq!(once, text(&cx, &again), "seed {seed}");
        run(&cx, &mut again, PASS).expect("what it made");
        assert_eq!(once, text(&cx, &again), "seed {seed}: there was more to do");
    }
    // Programs are such that both happen.
    assert!(propagated > 150 && kept > 40, "{propagated} propagated, {kept} kept");
}

#[test]
fn kernels_compute_the_same() {
    let cx = context();
    let sums = Tolerance { abs: 1e-4, rel: 1e-4, ulp: 0 };
    for seed in 1000..1030 {
        let before = program(&cx, seed, 8);
        let mut after = copy(&cx, &before);
        // A region that takes nothing but `12*M*N` elements does not know `M` and `N` where there are none.
        let (m, n) = [(1, 5), (2, 3), (2, 1)][seed as usize % 3];
        for passes in ["propagate-reshapes", "func.func(stitch)", "convert-graph-to-gir", "convert-gir-to-cpu"] {
            run(&cx, &mut after, &format!("builtin.module({passes})"))
                .unwrap_or_else(|e| panic!("{seed}: {e:?}\n{}", text(&cx, &after)));
            let what = format!("seed {seed}, {passes}\n{}", text(&cx, &before));
            agree(&cx, (&before, &after), &[("M", m), ("N", n)], sums, &what);
        }
    }
}

/// Regions of a program.
fn regions(cx: &Context, module: &Module, passes: &str) -> usize {
    let mut module = copy(cx, module);
    run(cx, &mut module, &format!("builtin.module({passes})")).expect("it runs");
    text(cx, &module).matches("graph.fusion(").count()
}

#[test]
fn no_program_gets_more_kernels() {
    let cx = context();
    let (mut fewer, mut more) = (0, Vec::new());
    for seed in 2000..2050 {
        let program = program(&cx, seed, 8);
        let apart = regions(&cx, &program, "func.func(stitch)");
        match apart.cmp(&regions(&cx, &program, "propagate-reshapes,func.func(stitch)")) {
            std::cmp::Ordering::Less => more.push(seed),
            std::cmp::Ordering::Greater => fewer += 1,
            std::cmp::Ordering::Equal => {}
        }
    }
    assert!(more.is_empty(), "more kernels: {more:?}");
    assert!(fewer > 15, "fewer kernels in {fewer} of 50 programs");
}
