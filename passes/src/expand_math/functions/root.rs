//! Roots, and rounding.

use super::super::arith::{Arith, Cmp, Int, Wide};

/// One over the square root, within 1.5 ulp: both operations are right rounded.
pub(in super::super) fn rsqrt<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let root = a.sqrt(x);
    let one = a.f(1.0);
    a.div(one, root)
}

/// Cube root, within 0.51 ulp: a third of the exponent, and two of Halley's steps in doubles.
pub(in super::super) fn cbrt<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let (magnitude, least, two24) = (a.abs(x), a.f(f32::MIN_POSITIVE), a.f(16_777_216.0));
    let denormal = a.cmp(Cmp::Olt, magnitude, least);
    let scaled = a.mul(magnitude, two24);
    let normal = a.select(denormal, scaled, magnitude);
    let bits = a.bits(normal);
    let third = a.int_with(Int::MulHigh, bits, 0x5555_5556);
    let guess = a.int_with(Int::Add, third, 0x2a51_19f2);
    let guess = a.of_bits(guess);
    let (cube, mut y) = (a.widen(normal), a.widen(guess));
    let twice = a.wide(Wide::Add, cube, cube);
    for _ in 0..2 {
        let square = a.wide(Wide::Mul, y, y);
        let own = a.wide(Wide::Mul, square, y);
        let own_twice = a.wide(Wide::Add, own, own);
        let (over, under) = (a.wide(Wide::Add, own, twice), a.wide(Wide::Add, own_twice, cube));
        let ratio = a.wide(Wide::Div, over, under);
        y = a.wide(Wide::Mul, y, ratio);
    }
    let root = a.narrow(y);
    let two_minus8 = a.f(1.0 / 256.0);
    let unscaled = a.mul(root, two_minus8);
    let root = a.select(denormal, unscaled, root);
    of_sign(a, (x, magnitude), root)
}

/// The root of the magnitude of `x` with its sign; zero, infinity and NaN are their own.
pub(super) fn of_sign<A: Arith>(a: &mut A, (x, magnitude): (A::V, A::V), root: A::V) -> A::V {
    let root = a.copysign(root, x);
    let (zero, infinity) = (a.f(0.0), a.f(f32::INFINITY));
    let (above, below) = (a.cmp(Cmp::Olt, zero, magnitude), a.cmp(Cmp::Olt, magnitude, infinity));
    let usual = a.both(above, below);
    a.select(usual, root, x)
}

/// The integer nearest to `x`, or the one below it where that is above `x`.
fn not_above<A: Arith>(a: &mut A, nearest: A::V, x: A::V) -> A::V {
    let (above, one) = (a.cmp(Cmp::Olt, x, nearest), a.f(1.0));
    let below = a.sub(nearest, one);
    a.select(above, below, nearest)
}

/// Nearest integer, ties away from zero: exact. The largest float below one half is added, so that what is just below a tie
/// stays.
pub(in super::super) fn round<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let below_half = 0.5 - 0.25 / (1u64 << (a.digits() - 1)) as f64;
    let (magnitude, half) = (a.abs(x), a.c(below_half));
    let sum = a.add(magnitude, half);
    let nearest = super::nearest_integer(a, sum);
    let whole = not_above(a, nearest, sum);
    a.copysign(whole, x)
}

/// Nearest integer, ties to even: exact.
pub(in super::super) fn roundeven<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let magnitude = a.abs(x);
    let nearest = super::nearest_integer(a, magnitude);
    a.copysign(nearest, x)
}

/// The integer next to `x` toward zero: exact.
pub(in super::super) fn trunc<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let magnitude = a.abs(x);
    let nearest = super::nearest_integer(a, magnitude);
    let whole = not_above(a, nearest, magnitude);
    a.copysign(whole, x)
}

/// The integer next to `x` that is not above it: exact.
pub(in super::super) fn floor<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let nearest = roundeven(a, x);
    not_above(a, nearest, x)
}

/// The integer next to `x` that is not below it: exact; of what is above -1 and below 0 it is -0.
pub(in super::super) fn ceil<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let nearest = roundeven(a, x);
    let (below, one) = (a.cmp(Cmp::Olt, nearest, x), a.f(1.0));
    let above = a.add(nearest, one);
    let whole = a.select(below, above, nearest);
    a.copysign(whole, x)
}
