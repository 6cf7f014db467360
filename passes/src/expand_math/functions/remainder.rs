//! Remainders: exact, as C's `fmod`.
//!
//! What is left of the dividend is divided by the divisor times a power of two, the quotient rounded to an integer, and that
//! multiple taken off: each step is exact, and leaves at most some five eighths of the multiple, of either sign. The next power
//! is smaller by as many bits as a quotient may have.

use super::super::arith::{Arith, Cmp, Wide};
use super::double::ROUND;

/// Bits of a quotient, so that its product with a float of 24 bits is a double.
const BITS: i32 = 28;

/// Powers of two that reach the largest quotient of two floats, below 2^277.
const POWERS: i32 = 10;

/// The remainder of `x / y` with the sign of `x`: exact.
pub(in super::super) fn rem<A: Arith>(a: &mut A, x: A::V, y: A::V) -> A::V {
    let (dividend, divisor) = (a.abs(x), a.abs(y));
    let (left, by) = (a.widen(dividend), a.widen(divisor));
    let last = step(a, left, by);
    let limit = a.d(2f64.powi(BITS));
    let limit = a.wide(Wide::Mul, by, limit);
    let near = a.wide_less(left, limit);
    let [rest] = a.rarely(near, [last], |a| {
        let mut left = left;
        for power in (0..POWERS).rev() {
            let factor = a.d(2f64.powi(BITS * power));
            let by = a.wide(Wide::Mul, by, factor);
            left = step(a, left, by);
        }
        [left]
    });
    let (zero, above) = (a.d(0.0), a.wide(Wide::Add, rest, by));
    let negative = a.wide_less(rest, zero);
    let rest = a.select(negative, above, rest);
    let rest = a.narrow(rest);
    of_dividend(a, (x, rest), (dividend, divisor))
}

/// What a multiple of `by` leaves of `x`.
fn step<A: Arith>(a: &mut A, x: A::V, by: A::V) -> A::V {
    let (quotient, round) = (a.wide(Wide::Div, x, by), a.d(ROUND));
    let sum = a.wide(Wide::Add, quotient, round);
    let nearest = a.wide(Wide::Sub, sum, round);
    let multiple = a.wide(Wide::Mul, nearest, by);
    a.wide(Wide::Sub, x, multiple)
}

/// The rest with the sign of the dividend; what is smaller than the divisor, which may be infinite, is left as it is.
pub(super) fn of_dividend<A: Arith>(a: &mut A, (x, rest): (A::V, A::V), (dividend, divisor): (A::V, A::V)) -> A::V {
    let rest = a.copysign(rest, x);
    let smaller = a.cmp(Cmp::Olt, dividend, divisor);
    a.select(smaller, x, rest)
}
