//! Angles of points: what IEEE 754 says of zeros and infinities, and a dense sample.

use astro_float_num::{BigFloat, Consts};

use super::super::native::{compute_double, compute2};
use super::double::{self, NEAREST, PRECISION, number};
use super::functions;
use super::measure;
use super::special::OPERANDS;
use super::{assert_same, floats, value};
use crate::testing::{context, run};
use sutura_dialects::text::parse_text;
use sutura_interp::{Interpreter, Random};

/// The bounds that the functions state, for floats and for doubles.
pub(super) const BOUNDS: (f64, f64) = (2.25, 2.0);

fn angle(y: f32, x: f32) -> f32 {
    compute2(functions::atan2, y, x)
}

fn angle_of_doubles(y: f64, x: f64) -> f64 {
    compute_double(|a, [y, x]| functions::double::atan2(a, y, x), [y, x])
}

/// Coordinates of any size, and others that are near each other.
fn points(count: usize) -> impl Iterator<Item = (f64, f64)> {
    let mut numbers = Random::new(7);
    let mut random = move || numbers.next_u64();
    (0..count).map(move |i| {
        let (y, x) = (f64::from(f32::from_bits(random() as u32)), f64::from(f32::from_bits(random() as u32)));
        let factor = (random() >> 11) as f64 / (1u64 << 52) as f64;
        let near = if random() & 1 == 0 { y * factor } else { -y * factor };
        if i % 2 == 0 { (y, x) } else { (y, near) }
    })
}

#[test]
fn special_angles_are_those_of_the_standard() {
    for y in OPERANDS {
        for x in OPERANDS {
            let ulp = measure::error(angle(*y, *x), f64::from(*y).atan2(f64::from(*x)));
            assert!(ulp <= BOUNDS.0, "atan2({y}, {x}) is {}: {ulp} ulp off", angle(*y, *x));
            let (got, expected) = (angle_of_doubles((*y).into(), (*x).into()), f64::from(*y).atan2(f64::from(*x)));
            let near = (got - expected).abs() <= 4.0 * f64::EPSILON * expected.abs();
            let same =
                got.to_bits() == expected.to_bits() || near && got.is_sign_negative() == expected.is_sign_negative();
            assert!(same || got.is_nan() && expected.is_nan(), "atan2({y}, {x}) is {got:e}, not {expected:e}");
        }
    }
}

#[test]
fn angles_are_within_the_bound() {
    let mut worst = 0f64;
    for (y, x) in points(400_000) {
        let (y, x) = (y as f32, x as f32);
        let ulp = measure::error(angle(y, x), f64::from(y).atan2(x.into()));
        assert!(ulp <= BOUNDS.0, "atan2({y}, {x}) is {}: {ulp} ulp off", angle(y, x));
        worst = worst.max(ulp);
    }
    assert!(worst > BOUNDS.0 - 1.0, "{worst} is far below the bound");
}

/// The angle of a point that is not the origin, in bits enough.
fn exact(y: f64, x: f64, cc: &mut Consts) -> BigFloat {
    let (p, mode) = (PRECISION, NEAREST);
    let pi = cc.pi(p, mode);
    let quarter = pi.div(&number(2.0), p, mode);
    let steep = y.abs() > x.abs();
    let (small, large) = if steep { (x, y) } else { (y, x) };
    let of_slope = number(small.abs()).div(&number(large.abs()), p, mode).atan(p, mode, cc);
    let right = if steep { quarter.sub(&of_slope, p, mode) } else { of_slope };
    let angle = if x < 0.0 { pi.sub(&right, p, mode) } else { right };
    if y < 0.0 { angle.neg() } else { angle }
}

#[test]
fn angles_of_doubles_are_within_the_bound() {
    let (mut cc, mut worst) = (Consts::new().unwrap(), 0f64);
    for (y, x) in points(6_000).filter(|(y, x)| y.is_finite() && x.is_finite() && *y != 0.0 && *x != 0.0) {
        let ulp = double::error(angle_of_doubles(y, x), &exact(y, x, &mut cc));
        assert!(ulp <= BOUNDS.1, "atan2({y:e}, {x:e}) is {:e}: {ulp} ulp off", angle_of_doubles(y, x));
        worst = worst.max(ulp);
    }
    assert!(worst > BOUNDS.1 - 1.0, "{worst} is far below the bound");
}

/// What is emitted computes the same bits as the functions do here.
#[test]
fn emitted_angles_compute_the_same_bits() {
    let cx = context();
    let source = "func.func @main(%y: vector<4xf32>, %x: vector<4xf32>) -> vector<4xf32> {
        %z = math.atan2 %y, %x : vector<4xf32> return %z : vector<4xf32> }
      func.func @double(%y: f64, %x: f64) -> f64 { %z = math.atan2 %y, %x : f64 return %z : f64 }";
    let mut module = parse_text(&cx, "angle", source).unwrap();
    run(&cx, &mut module, "builtin.module(func.func(expand-math))").unwrap();
    let mut program = Interpreter::new(&cx, &module);
    for y in OPERANDS.chunks(4) {
        for x in OPERANDS {
            let results = program.call("main", &[value(&[4], y), value(&[4], &[*x; 4])]).unwrap();
            for (y, got) in y.iter().zip(floats(&results[0])) {
                assert_same(got, angle(*y, *x), &format!("atan2({y}, {x})"));
                let operands = [*y, *x].map(|number| double::value(0, &[number.into()]));
                let results = program.call("double", &operands).unwrap();
                let expected = angle_of_doubles((*y).into(), (*x).into());
                double::assert_same(double::doubles(&results[0])[0], expected, &format!("atan2({y}, {x})"));
            }
        }
    }
}
