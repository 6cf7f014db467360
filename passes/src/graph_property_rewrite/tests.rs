//! Random programs of the ops that rules know: rewriting keeps what they mean, exactly unless more is allowed.

use sutura_dialects::graph::Combiner;
use sutura_dialects::graph::build::{Built, GraphBuilder, Scalars};
use sutura_interp::random::Random;
use sutura_interp::{DType, Interpreter, Scalar, Tensor, Tolerance};
use sutura_ir::types::FloatKind;
use sutura_ir::{Context, Module, Type, Value};

use crate::testing::{agree, any, context, copy, function, run, tensor, text};

const PASS: &str = "builtin.module(graph-property-rewrite)";
const FAST: &str = "builtin.module(graph-property-rewrite{fast-math=fast})";

fn below(random: &mut Random, most: usize) -> usize {
    (random.next_u64() >> 32) as usize % most
}

fn choose(random: &mut Random, values: &[Value]) -> Value {
    values[below(random, values.len())]
}

/// One op on values `[M, N]`, rows `[N]` and columns `[M, 1]`.
fn step(g: &mut GraphBuilder<'_, '_>, random: &mut Random, full: &[Value], small: &[Value]) -> Built {
    let a = choose(random, full);
    let b = if below(random, 3) == 0 { choose(random, small) } else { choose(random, full) };
    let c = choose(random, small);
    match below(random, 17) {
        0 => g.zip(a, b, |s, a, b| s.add(a, b)),
        1 => g.zip(a, b, |s, a, b| s.sub(a, b)),
        2 => g.map(a, |s, x| s.neg(x)),
        3 => {
            let divisor = [0.25, 8.0, 3.0][below(random, 3)];
            g.map(a, |s, x| {
                let c = s.number(divisor, s.ty(x));
                s.div(x, c)
            })
        }
        4 => {
            let factors = [[2.0, 4.0], [0.5, 3.0]][below(random, 2)];
            g.map(a, |s, x| {
                let (c, d) = (s.number(factors[0], s.ty(x)), s.number(factors[1], s.ty(x)));
                let scaled = s.mul(x, c);
                s.mul(scaled, d)
            })
        }
        5 => {
            let left = g.zip(a, c, |s, a, c| s.mul(a, c))?;
            let other = choose(random, small);
            let right = g.zip(other, a, |s, c, a| s.mul(c, a))?;
            g.zip(left, right, |s, l, r| s.add(l, r))
        }
        6 => {
            // Bounded, so that no exponential overflows.
            let exp = |g: &mut GraphBuilder<'_, '_>, x| {
                let small = g.map(x, |s, x| s.math("math.tanh", x))?;
                g.map(small, |s, x| s.math("math.exp", x))
            };
            let (left, right) = (exp(g, a)?, exp(g, b)?);
            g.zip(left, right, |s, l, r| s.mul(l, r))
        }
        7 => {
            let scaled = g.zip(a, c, |s, a, c| s.mul(a, c))?;
            let axis = below(random, 2);
            let sum = g.reduce(scaled, &[axis], true, Combiner::Add, Type::F32, |_, x| x);
            g.zip(a, sum, |s, a, b| s.sub(a, b))
        }
        8 => {
            let root = g.map(a, |s, x| {
                let size = s.abs(x);
                s.math("math.sqrt", size)
            })?;
            g.zip(root, root, |s, l, r| s.mul(l, r))
        }
        9 => chain(g, random, a, b),
        10 => {
            // A gate: x * (1 / (1 + exp(-x))).
            let gate = g.map(a, |s, x| {
                let one = s.number(1.0, s.ty(x));
                let bounded = s.math("math.tanh", x);
                let less = s.neg(bounded);
                let exp = s.math("math.exp", less);
                let sum = s.add(one, exp);
                s.div(one, sum)
            })?;
            g.zip(b, gate, |s, x, gate| s.mul(x, gate))
        }
        11 => g.map(a, |s, x| {
            let [c, d] = [1.5, -0.25].map(|c| s.number(c, s.ty(x)));
            let once = s.add(x, c);
            s.sub(once, d)
        }),
        12 => g.map(a, |s, x| {
            let [c, d, e] = [1.5, 0.75, -2.0].map(|c| s.number(c, s.ty(x)));
            let scaled = s.mul(x, c);
            let line = s.add(scaled, d);
            s.mul(line, e)
        }),
        13 => gate(g, random, a),
        14 => {
            let bounds = [[-1.0, 0.5, 0.25], [0.0, 6.0, -2.0], [0.5, 0.25, 1.0]][below(random, 3)];
            let up = below(random, 2) == 0;
            g.map(a, |s, x| {
                let [c, d, e] = bounds.map(|c| s.number(c, s.ty(x)));
                let once = s.max(x, c);
                let twice = if up { s.max(once, d) } else { s.min(once, d) };
                s.max(twice, e)
            })
        }
        _ => g.map(a, |s, x| {
            // At least 1, so that nothing is divided by zero.
            let (size, one) = (s.abs(x), s.number(1.0, s.ty(x)));
            let at_least = s.add(size, one);
            let root = s.math("math.sqrt", at_least);
            s.div(at_least, root)
        }),
    }
}

/// What mish multiplies by, with a softplus that overflows and with one that does not, and a hyperbolic tangent by a sigmoid.
fn gate(g: &mut GraphBuilder<'_, '_>, random: &mut Random, a: Value) -> Built {
    let kind = below(random, 3);
    let soft = g.map(a, |s, x| activation(s, kind, x))?;
    g.map(soft, |s, x| if kind < 2 { s.math("math.tanh", x) } else { x })
}

/// `log(1 + exp(x))`, `max(x, 0) + log(1 + exp(-|x|))`, or `2 * (1 / (1 + exp(-x))) - 1`.
fn activation(s: &mut Scalars<'_, '_>, kind: usize, x: Value) -> Value {
    let ty = s.ty(x);
    let [zero, one, two] = [0.0, 1.0, 2.0].map(|c| s.number(c, ty));
    let size = s.abs(x);
    let exponent = match kind {
        0 => x,
        1 => s.neg(size),
        _ => s.neg(x),
    };
    let exp = s.math("math.exp", exponent);
    let sum = s.add(one, exp);
    match kind {
        0 => s.math("math.log", sum),
        1 => {
            let (positive, log) = (s.max(x, zero), s.math("math.log", sum));
            s.add(positive, log)
        }
        _ => {
            let sigmoid = s.div(one, sum);
            let twice = s.mul(two, sigmoid);
            s.sub(twice, one)
        }
    }
}

/// Exponentials and logarithms, of numbers between -1 and 1 and their exponentials.
fn chain(g: &mut GraphBuilder<'_, '_>, random: &mut Random, a: Value, b: Value) -> Built {
    let bounded = |g: &mut GraphBuilder<'_, '_>, x| g.map(x, |s, x| s.math("math.tanh", x));
    let exp = |g: &mut GraphBuilder<'_, '_>, x| g.map(x, |s, x| s.math("math.exp", x));
    let log = |g: &mut GraphBuilder<'_, '_>, x| g.map(x, |s, x| s.math("math.log", x));
    let (a, b) = (bounded(g, a)?, bounded(g, b)?);
    let (left, right) = (exp(g, a)?, exp(g, b)?);
    match below(random, 5) {
        0 => log(g, left),
        1 => {
            let back = log(g, left)?;
            exp(g, back)
        }
        2 => g.zip(left, right, |s, l, r| s.div(l, r)),
        3 => g.map(left, |s, x| {
            let one = s.number(1.0, s.ty(x));
            s.div(one, x)
        }),
        _ => {
            let sizes = [left, right].map(|x| g.map(x, |s, x| s.add(x, x)));
            let [left, right] = sizes;
            let (left, right) = (log(g, left?)?, log(g, right?)?);
            match below(random, 2) {
                0 => g.zip(left, right, |s, l, r| s.add(l, r)),
                _ => g.zip(left, right, |s, l, r| s.sub(l, r)),
            }
        }
    }
}

fn program(cx: &Context, random: &mut Random) -> Module {
    let types = [&["M", "N"][..], &["M", "N"], &["N"], &["M", "1"]].map(|s| tensor(cx, s, Type::F32));
    function(cx, &[("M", any()), ("N", any())], &types, |g, args| {
        let mut full = args[..2].to_vec();
        for _ in 0..4 {
            let value = step(g, random, &full, &args[2..])?;
            full.push(value);
        }
        Ok(vec![full[full.len() - 1], choose(random, &full)])
    })
}

/// Runs the pass on random programs; returns how many it changed.
fn check(pipeline: &str, tolerance: Tolerance, seed: u64) -> usize {
    let cx = context();
    let mut random = Random::new(seed);
    let mut changed = 0;
    for _ in 0..120 {
        let before = program(&cx, &mut random);
        let (mut after, mut again) = (copy(&cx, &before), copy(&cx, &before));
        let said = run(&cx, &mut after, pipeline).unwrap_or_else(|e| panic!("{e:?}\n{}", text(&cx, &before)));
        changed += usize::from(said.iter().any(|line| line.contains(" become ")));
        for (m, n) in [(0, 3), (1, 1), (3, 5), (4, 16)] {
            agree(&cx, (&before, &after), &[("M", m), ("N", n)], tolerance, &text(&cx, &before));
        }
        run(&cx, &mut again, pipeline).expect("it ran before");
        assert_eq!(text(&cx, &after), text(&cx, &again), "the same input gives the same text");
        run(&cx, &mut again, pipeline).expect("it runs on what it made");
        assert_eq!(text(&cx, &after), text(&cx, &again), "what it has done it does not do again");
    }
    changed
}

#[test]
fn without_flags_every_bit_stays() {
    let changed = check(PASS, Tolerance::EXACT, 5);
    assert!(changed > 40, "only {changed} programs were changed");
}

#[test]
fn with_flags_results_differ_by_rounding() {
    let changed = check(FAST, Tolerance { abs: 1e-2, rel: 1e-3, ..Tolerance::EXACT }, 6);
    assert!(changed > 80, "only {changed} programs were changed");
}

/// Numbers at which functions change, overflow or are no numbers.
const SPECIAL: [f64; 22] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    5.4,
    5.6,
    -7.0,
    12.0,
    -12.0,
    19.9,
    20.1,
    -30.0,
    60.0,
    -60.0,
    1e4,
    -1e4,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    1e-5,
];

/// What the results of a function of one number are at [`SPECIAL`].
fn at_special(cx: &Context, module: &Module, kind: FloatKind) -> Vec<Scalar> {
    let all = SPECIAL.iter().map(|x| Scalar::float(*x, kind));
    let input = Tensor::from_scalars(DType::Float(kind), &[SPECIAL.len()], all).expect("as many as there are");
    let made = Interpreter::new(cx, module).call("main", &[sutura_interp::Value::Tensor(input)]).expect("it runs");
    let made = made[0].tensor().expect("a tensor").data().clone();
    (0..SPECIAL.len()).map(|i| made.get(i).expect("all are made")).collect()
}

/// Mish and the hyperbolic tangent by a sigmoid are what they were at special numbers, of each type, within some of its last bits.
#[test]
fn gates_keep_special_numbers() {
    let cx = context();
    for (ty, digits) in [(Type::F32, 2e-7), (Type::F64, 4e-16), (Type::F16, 2e-3), (Type::BF16, 2e-2)] {
        let Some(DType::Float(float)) = DType::of(&cx, ty) else { panic!("a type of floats") };
        for kind in 0..3 {
            let n = SPECIAL.len().to_string();
            let before = function(&cx, &[], &[tensor(&cx, &[&n], ty)], |g, args| {
                let y = g.map(args[0], |s, x| {
                    let y = activation(s, kind, x);
                    if kind < 2 { s.math("math.tanh", y) } else { y }
                })?;
                Ok(vec![y])
            });
            let mut after = copy(&cx, &before);
            let said = run(&cx, &mut after, "builtin.module(graph-property-rewrite{fast-math=reassoc,nsz,afn})");
            let said = said.expect("it runs");
            assert!(said.iter().any(|line| line.contains(" become ")), "{said:?}");
            let results = [&before, &after].map(|module| at_special(&cx, module, float));
            for (i, x) in SPECIAL.iter().enumerate() {
                let [was, is] = [results[0][i], results[1][i]].map(|y| y.as_f64().expect("a float"));
                // The exact function, of the number as the type has it.
                let x = Scalar::float(*x, float).as_f64().expect("a float");
                let exact = if kind < 2 { x.max(0.0) + (-x.abs()).exp().ln_1p() } else { x / 2.0 };
                let exact = if x.is_nan() { x } else { exact.tanh() };
                let near = |y: f64| (y.is_nan() && exact.is_nan()) || (y - exact).abs() <= digits * 4.0;
                assert!(near(is), "{ty:?} {kind}: {x} gave {was}, gives {is}, is {exact}");
            }
        }
    }
}

#[test]
fn a_flag_that_does_not_exist_is_refused() {
    let mut registry = sutura_ir::pass::PassRegistry::new();
    crate::register(&mut registry);
    let options = [("fast-math".to_string(), "reassoc,quick".to_string())];
    let error = registry.instantiate("graph-property-rewrite", &options).map(|_| ()).expect_err("no such flag");
    assert!(error.contains("not `quick`"), "{error}");
}
