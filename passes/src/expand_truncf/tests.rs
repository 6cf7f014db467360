//! One rounding, on numbers that two would tell apart.

use sutura_dialects::text::parse_text;
use sutura_interp::{DType, Interpreter, Random, Scalar, Tensor, Value};
use sutura_ir::types::FloatKind;

use crate::testing::{context, run, text};

const LANES: usize = 64;

/// Doubles of any size, and those at, just below and just above the middle of two neighbours of a narrow type.
fn doubles(kept: u32, exponents: std::ops::Range<i32>) -> Vec<f64> {
    let special =
        [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MAX, f64::MIN_POSITIVE, 5e-324, 65519.99, 65520.0];
    let mut all: Vec<f64> = special.iter().flat_map(|x| [*x, -*x]).collect();
    let mut random = Random::new(7);
    let mut next = || random.next_u64();
    for _ in 0..4000 {
        let exponent = exponents.start + (next() % exponents.len() as u64) as i32;
        let sign = if next() & 1 == 0 { 1.0 } else { -1.0 };
        let mantissa = (next() & ((1 << kept) - 1)) as f64 / f64::from(1u32 << kept);
        let middle = sign * (1.0 + mantissa + 0.5 / f64::from(1u32 << kept)) * 2f64.powi(exponent);
        // Further from it than a double's last place, and nearer than what `f32` tells.
        let near = [1.0, 1.0 - f64::EPSILON, 1.0 + f64::EPSILON, 1.0 - 1e-12, 1.0 + 1e-12, 1.0 - 1e-5, 1.0 + 1e-5];
        all.extend(near.map(|by| middle * by));
        all.push(f64::from_bits(next()));
    }
    all
}

fn vector(kind: FloatKind, numbers: &[f64]) -> Value {
    let scalars: Vec<_> = numbers.iter().map(|x| Scalar::float(*x, kind)).collect();
    Value::Vector(Tensor::from_scalars(DType::Float(kind), &[scalars.len()], scalars).unwrap())
}

#[test]
fn the_bits_are_those_of_one_rounding() {
    use FloatKind::{BF16, F16, F32, F64};
    let names = |kind| FloatKind::ALL.iter().find(|(known, ..)| *known == kind).unwrap().1;
    for (from, to, kept, exponents) in [(F64, F16, 10, -26..17), (F64, BF16, 7, -140..128), (F32, BF16, 7, -140..128)] {
        let cx = context();
        let (wide, narrow) = (names(from), names(to));
        let source = format!(
            "func.func @main(%x: vector<{LANES}x{wide}>) -> vector<{LANES}x{narrow}> {{
            %y = arith.truncf %x : vector<{LANES}x{wide}> to vector<{LANES}x{narrow}>
            return %y : vector<{LANES}x{narrow}> }}"
        );
        let before = parse_text(&cx, "before", &source).unwrap();
        let mut after = parse_text(&cx, "after", &source).unwrap();
        run(&cx, &mut after, "builtin.module(attach-target{name=x86_avx2},expand-truncf,canonicalize,cse)").unwrap();
        assert_ne!(text(&cx, &before), text(&cx, &after), "{wide} to {narrow}");
        let mut all = doubles(kept, exponents);
        all.truncate(all.len() / LANES * LANES);
        for chunk in all.chunks(LANES) {
            let args = [vector(from, chunk)];
            let of = |module| Interpreter::new(&cx, module).call("main", &args).unwrap();
            let (wanted, got) = (of(&before), of(&after));
            let (wanted, got) = (wanted[0].vector().unwrap(), got[0].vector().unwrap());
            for (lane, x) in chunk.iter().enumerate() {
                let (wanted, got) = (wanted.at(&[lane as i64]).unwrap(), got.at(&[lane as i64]).unwrap());
                let both_nan = wanted.as_f64().is_some_and(f64::is_nan) && got.as_f64().is_some_and(f64::is_nan);
                assert!(wanted == got || both_nan, "{wide} {x:e} to {narrow}: {wanted:?} and {got:?}");
            }
        }
    }
}
