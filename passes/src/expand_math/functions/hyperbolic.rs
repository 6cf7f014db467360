//! Odd functions that go to one: rational functions of the square up to where the result is one.

use super::super::arith::{Arith, Cmp};

/// `x P(z) / Q(z)` for the square `z` of `x`, but at most `limit`: beyond it grows, until it is cut off at one.
fn rational<A: Arith>(a: &mut A, x: A::V, limit: f32, p: &[f32], q: &[f32]) -> A::V {
    let (square, limit) = (a.mul(x, x), a.f(limit));
    let above = a.cmp(Cmp::Olt, limit, square);
    let z = a.select(above, limit, square);
    let (p, q) = (a.polynomial(z, p), a.polynomial(z, q));
    let p = a.mul(p, x);
    let ratio = a.div(p, q);
    a.clamp(ratio, -1.0, 1.0)
}

/// Hyperbolic tangent, within 5.5 ulp and never above one. 16 instructions, one of them a division.
pub(in super::super) fn tanh<A: Arith>(a: &mut A, x: A::V) -> A::V {
    // Both constant terms are one, so that what is tiny stays as it is.
    rational(
        a,
        x,
        81.0,
        &[1.347_920_35e-8, 2.070_905_2e-5, 3.502_058_8e-3, 1.338_659_5e-1, 1.0],
        &[7.830_577e-7, 3.295_947e-4, 2.590_197_7e-2, 4.671_991_8e-1, 1.0],
    )
}

/// Error function, within 6 ulp and never above one. 18 instructions, one of them a division.
pub(in super::super) fn erf<A: Arith>(a: &mut A, x: A::V) -> A::V {
    // The quotient of the constant terms is 2 / sqrt(pi) to 37 bits.
    rational(
        a,
        x,
        15.3664,
        &[3.007_23e-6, 4.159_983e-4, 5.471_329e-3, 7.703_292e-2, 2.775_963_2e-1, 1.650_144_3],
        &[5.576_811_2e-5, 1.691_785_1e-3, 2.182_051_5e-2, 1.665_254_2e-1, 7.334_802e-1, 1.462_402_3],
    )
}
