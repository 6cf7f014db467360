//! Remainders, which are exact, against those of this machine's library: every pair of special operands, and of all sizes.

use sutura_dialects::text::parse_text;
use sutura_interp::{Interpreter, Random};

use super::super::functions::{self, double};
use super::super::native::{compute_double, compute2};
use super::special::OPERANDS;
use super::{assert_same, floats, value};
use crate::testing::{context, run};

fn check(x: f32, y: f32) {
    assert_same(compute2(functions::rem, x, y), x % y, &format!("{x} % {y}"));
}

fn check_double(x: f64, y: f64) {
    let (got, expected) = (compute_double(|a, [x, y]| double::rem(a, x, y), [x, y]), x % y);
    assert!(
        got.to_bits() == expected.to_bits() || (got.is_nan() && expected.is_nan()),
        "{x} % {y} = {got}, {expected}"
    );
}

#[test]
fn remainders_of_special_operands_are_exact() {
    for x in OPERANDS {
        for y in OPERANDS {
            check(*x, *y);
            check_double((*x).into(), (*y).into());
        }
    }
    let doubles =
        [5e-324, f64::MIN_POSITIVE, f64::MAX, 1.0, 1.5, 4_503_599_627_370_497.0, 1e300, 1e-300, f64::INFINITY];
    for x in doubles {
        for y in doubles {
            check_double(x, y);
            check_double(-x, y);
            check_double(x, -y);
        }
    }
}

#[test]
fn remainders_of_all_sizes_are_exact() {
    let mut random = Random::new(77);
    for _ in 0..200_000 {
        let (a, b) = (random.next_u64(), random.next_u64());
        let (x, y) = (f32::from_bits(a as u32), f32::from_bits((a >> 32) as u32));
        check(x, y);
        let (wide, by) = (f64::from_bits(a), f64::from_bits(b));
        check_double(wide, by);
        // Near multiples, and near halves of them, where a quotient may be rounded to another integer.
        let multiple = wide.abs().min(1e290) * ((b >> 20) as f64);
        for close in [multiple, multiple.next_up(), multiple.next_down(), multiple * 0.5, wide * 2f64.powi(51)] {
            check_double(close, wide);
        }
        let multiple = x.abs().min(1e30) * ((b & 0xff_ffff) as f32);
        for close in [multiple, multiple.next_up(), multiple.next_down(), multiple * 0.5, x * 268_435_456.0] {
            check(close, x);
        }
    }
}

#[test]
fn emitted_remainders_compute_the_same_bits() {
    let cx = context();
    let source = "func.func @main(%x: vector<4xf32>, %y: vector<4xf32>) -> vector<4xf32> {
        %z = arith.remf %x, %y : vector<4xf32> return %z : vector<4xf32> }";
    let mut module = parse_text(&cx, "rem", source).unwrap();
    run(&cx, &mut module, "builtin.module(func.func(expand-math))").unwrap();
    for x in OPERANDS.chunks(4) {
        for y in OPERANDS {
            let operands = [value(&[4], x), value(&[4], &[*y; 4])];
            let results = Interpreter::new(&cx, &module).call("main", &operands).unwrap();
            for (x, got) in x.iter().zip(floats(&results[0])) {
                assert_same(got, x % y, &format!("{x} % {y}"));
            }
        }
    }
}
