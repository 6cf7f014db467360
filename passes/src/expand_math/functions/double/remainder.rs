//! Remainders of doubles: exact, as C's `fmod`. The steps are those of floats, each with one rounding of a fused operation,
//! whose result is a double.

use super::super::super::arith::{Arith, Cmp};
use super::super::remainder::of_dividend;
use super::nearest;

/// Bits of a quotient, so that it is rounded to an integer by an addition, and its own error is a part of one.
const BITS: i32 = 51;

/// Powers of two that reach the largest quotient of two doubles, below 2^2098.
const POWERS: i32 = 42;

/// The remainder of `x / y` with the sign of `x`: exact.
pub(in super::super::super) fn rem<A: Arith>(a: &mut A, x: A::V, y: A::V) -> A::V {
    let (dividend, divisor) = (a.abs(x), a.abs(y));
    let last = step(a, dividend, divisor);
    let limit = a.c(2f64.powi(BITS - 1));
    let limit = a.mul(divisor, limit);
    let near = a.cmp(Cmp::Olt, dividend, limit);
    let [rest] = a.rarely(near, [last], |a| {
        let mut left = dividend;
        for power in (0..POWERS).rev() {
            let by = scaled(a, divisor, BITS * power);
            let next = step(a, left, by);
            // Nothing is as large as a multiple beyond the doubles.
            let infinity = a.c(f64::INFINITY);
            let finite = a.cmp(Cmp::Olt, by, infinity);
            left = a.select(finite, next, left);
        }
        [left]
    });
    let (zero, above) = (a.c(0.0), a.add(rest, divisor));
    let negative = a.cmp(Cmp::Olt, rest, zero);
    let rest = a.select(negative, above, rest);
    // What is left of infinity, and of anything by NaN.
    let rest = undefined(a, rest, dividend, divisor);
    of_dividend(a, (x, rest), (dividend, divisor))
}

/// The rest, or NaN where the dividend is infinite or an operand is NaN.
fn undefined<A: Arith>(a: &mut A, rest: A::V, dividend: A::V, divisor: A::V) -> A::V {
    let (infinity, nan) = (a.c(f64::INFINITY), a.c(f64::NAN));
    let finite = a.cmp(Cmp::Olt, dividend, infinity);
    let rest = a.select(finite, rest, nan);
    let is_number = a.cmp(Cmp::Oeq, divisor, divisor);
    a.select(is_number, rest, nan)
}

/// What a multiple of `by` leaves of `x`.
fn step<A: Arith>(a: &mut A, x: A::V, by: A::V) -> A::V {
    let quotient = a.div(x, by);
    let [whole, _] = nearest(a, quotient, 0.0);
    let zero = a.c(-0.0);
    let negated = a.sub(zero, whole);
    a.fma(negated, by, x)
}

/// `x * 2^power`.
fn scaled<A: Arith>(a: &mut A, x: A::V, power: i32) -> A::V {
    let (mut x, mut left) = (x, power);
    while left > 0 {
        let part = left.min(1020);
        let factor = a.c(2f64.powi(part));
        x = a.mul(x, factor);
        left -= part;
    }
    x
}
