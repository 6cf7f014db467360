//! The expansions against double precision, computed on floats of this machine.

use sutura_dialects::text::parse_text;
use sutura_interp::{DType, Interpreter, Scalar, Tensor, Value};

use super::builder::{Arith, Cmp, Int};
use super::functions;
use crate::testing::{context, run, text};

/// Computes on bit patterns; a truth value is 0 or 1.
struct Native;

fn f(bits: u32) -> f32 {
    f32::from_bits(bits)
}

impl Arith for Native {
    type V = u32;

    fn f(&mut self, value: f32) -> u32 {
        value.to_bits()
    }
    fn i(&mut self, value: i32) -> u32 {
        value as u32
    }
    fn add(&mut self, a: u32, b: u32) -> u32 {
        (f(a) + f(b)).to_bits()
    }
    fn sub(&mut self, a: u32, b: u32) -> u32 {
        (f(a) - f(b)).to_bits()
    }
    fn mul(&mut self, a: u32, b: u32) -> u32 {
        (f(a) * f(b)).to_bits()
    }
    fn div(&mut self, a: u32, b: u32) -> u32 {
        (f(a) / f(b)).to_bits()
    }
    fn fma(&mut self, a: u32, b: u32, c: u32) -> u32 {
        f(a).mul_add(f(b), f(c)).to_bits()
    }
    fn sqrt(&mut self, a: u32) -> u32 {
        f(a).sqrt().to_bits()
    }
    fn abs(&mut self, a: u32) -> u32 {
        f(a).abs().to_bits()
    }
    fn trunc(&mut self, a: u32) -> u32 {
        f(a).trunc().to_bits()
    }
    fn copysign(&mut self, a: u32, sign: u32) -> u32 {
        f(a).copysign(f(sign)).to_bits()
    }
    fn cmp(&mut self, pred: Cmp, a: u32, b: u32) -> u32 {
        u32::from(match pred {
            Cmp::Oeq => f(a) == f(b),
            Cmp::Olt => f(a) < f(b),
            Cmp::Uno => f(a).is_nan() || f(b).is_nan(),
        })
    }
    fn select(&mut self, cond: u32, a: u32, b: u32) -> u32 {
        if cond == 1 { a } else { b }
    }
    fn bits(&mut self, a: u32) -> u32 {
        a
    }
    fn of_bits(&mut self, a: u32) -> u32 {
        a
    }
    fn int(&mut self, op: Int, a: u32, b: u32) -> u32 {
        match op {
            Int::Add => a.wrapping_add(b),
            Int::Sub => a.wrapping_sub(b),
            Int::Shl => a.wrapping_shl(b),
            Int::ShrS => (a as i32).wrapping_shr(b) as u32,
        }
    }
    fn to_float(&mut self, a: u32) -> u32 {
        (a as i32 as f32).to_bits()
    }
}

/// Distance between neighbours of a float's size, denormals included.
fn ulp(exact: f64) -> f64 {
    let exponent = (exact.abs().log2().floor() as i32).max(-126);
    2f64.powi(exponent - 23)
}

/// Every 16411th float of each sign, and what is special.
fn inputs() -> impl Iterator<Item = f32> {
    let special = [0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MIN_POSITIVE, 1e-45, 0.5];
    (0..=u32::MAX / 16411).map(|i| f(i * 16411)).chain(special)
}

/// Largest error in units in the last place; panics where one of the two is not finite and they differ.
fn worst(expand: fn(&mut Native, u32) -> u32, exact: fn(f64) -> f64) -> f64 {
    let mut worst = 0f64;
    for x in inputs() {
        let (got, exact) = (f(expand(&mut Native, x.to_bits())), exact(f64::from(x)));
        let rounded = exact as f32;
        if !rounded.is_finite() || !got.is_finite() {
            let same = got == rounded || (got.is_nan() && rounded.is_nan());
            // At the edge of overflow one unit decides between the largest float and infinity.
            assert!(same || (exact.abs() / f64::from(f32::MAX) - 1.0).abs() < 1e-6, "f({x}) = {got}, not {rounded}");
            continue;
        }
        worst = worst.max((f64::from(got) - exact).abs() / ulp(exact));
    }
    worst
}

#[test]
fn exponentials() {
    assert!(worst(functions::exp, f64::exp) < 1.0);
    assert!(worst(functions::exp2, f64::exp2) < 2.0);
}

#[test]
fn logarithm() {
    assert!(worst(functions::log, f64::ln) < 1.0);
}

#[test]
fn hyperbolic_tangent() {
    assert!(worst(functions::tanh, f64::tanh) < 5.0);
}

#[test]
fn reciprocal_root_and_rounding() {
    assert!(worst(functions::rsqrt, |x| 1.0 / x.sqrt()) < 1.5);
    assert_eq!(worst(functions::round, f64::round), 0.0);
}

/// erf by its Taylor series, and one minus its continued fraction further out; good to 1e-12.
fn exact_erf(x: f64) -> f64 {
    let z = x.abs();
    if z.is_nan() {
        return x;
    }
    let value = if z < 3.0 {
        let (mut term, mut sum) = (z, z);
        for n in 1..100 {
            term *= -z * z / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        sum * 2.0 / std::f64::consts::PI.sqrt()
    } else if z < 30.0 {
        let mut fraction = 0.0;
        for k in (1..60).rev() {
            fraction = f64::from(k) / 2.0 / (z + fraction);
        }
        1.0 - (-z * z).exp() / std::f64::consts::PI.sqrt() / (z + fraction)
    } else {
        1.0
    };
    value.copysign(x)
}

#[test]
fn error_function() {
    for x in inputs() {
        let (got, exact) = (f(functions::erf(&mut Native, x.to_bits())), exact_erf(f64::from(x)));
        assert!(got.is_nan() == x.is_nan(), "erf({x})");
        assert!(
            x.is_nan() || (f64::from(got) - exact).abs() < 4e-7 * exact.abs() + 1e-38,
            "erf({x}) = {got}, not {exact}"
        );
    }
}

/// What is emitted computes the same bits as the functions do here, on numbers and on vectors of any shape.
#[test]
fn emitted_code_computes_the_same_bits() {
    type Expansion = fn(&mut Native, u32) -> u32;
    let table: [(&str, Expansion); 7] = [
        ("exp", functions::exp),
        ("exp2", functions::exp2),
        ("log", functions::log),
        ("tanh", functions::tanh),
        ("erf", functions::erf),
        ("rsqrt", functions::rsqrt),
        ("round", functions::round),
    ];
    let cx = context();
    // A few of each magnitude, and what is special.
    let all: Vec<f32> = inputs().collect();
    let some: Vec<f32> = all.iter().copied().step_by(409).chain(all[all.len() - 10..].iter().copied()).collect();
    for (name, expanded) in table {
        for shape in [&[][..], &[1], &[16], &[3, 5]] {
            let ty = match shape {
                [] => "f32".to_owned(),
                _ => format!("vector<{}xf32>", shape.iter().map(usize::to_string).collect::<Vec<_>>().join("x")),
            };
            let source = format!("func.func @main(%x: {ty}) -> {ty} {{ %y = math.{name} %x : {ty} return %y : {ty} }}");
            let mut module = parse_text(&cx, name, &source).unwrap();
            run(&cx, &mut module, "builtin.module(func.func(expand-math))").unwrap();
            assert!(!text(&cx, &module).contains(&format!("math.{name}")));
            let lanes = shape.iter().product();
            for inputs in some.chunks_exact(lanes) {
                let scalars = inputs.iter().map(|x| Scalar::from_bits(DType::F32, x.to_bits().into()));
                let argument = match shape {
                    [] => Value::Scalar(scalars.into_iter().next().expect("one lane")),
                    _ => Value::Vector(Tensor::from_scalars(DType::F32, shape, scalars).unwrap()),
                };
                let results = Interpreter::new(&cx, &module).call("main", &[argument]).unwrap();
                let got: Vec<u32> = match &results[0] {
                    Value::Scalar(s) => vec![s.bits() as u32],
                    other => {
                        let data = other.vector().unwrap().data().clone();
                        (0..lanes).map(|i| data.read(i).unwrap().bits() as u32).collect()
                    }
                };
                for (x, got) in inputs.iter().zip(got) {
                    let expected = expanded(&mut Native, x.to_bits());
                    let both_nan = f(got).is_nan() && f(expected).is_nan();
                    assert!(got == expected || both_nan, "{name}({x}) = {} and {}", f(got), f(expected));
                }
            }
        }
    }
}
