//! Odd functions that go to one.

use super::super::arith::{Arith, Cmp, Int};

/// Hyperbolic tangent, within 5.5 ulp and never above one: a rational function of the square, which grows beyond where it is
/// one, and is cut off there. 16 instructions, one of them a division.
pub(in super::super) fn tanh<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let square = a.mul(x, x);
    let z = a.at_most(square, 81.0);
    // Both constant terms are one, so that what is tiny stays as it is.
    let p = a.polynomial(z, &[1.347_920_35e-8, 2.070_905_2e-5, 3.502_058_8e-3, 1.338_659_5e-1, 1.0]);
    let q = a.polynomial(z, &[7.830_577e-7, 3.295_947e-4, 2.590_197_7e-2, 4.671_991_8e-1, 1.0]);
    let p = a.mul(p, x);
    let ratio = a.div(p, q);
    a.clamp(ratio, -1.0, 1.0)
}

/// Where [`erf`] goes from one form to the other.
const ERF_NEAR: f64 = 0.95;

/// Adding this to a float of magnitude below 2^22 rounds it to an integer `n`; its low bits then are those of `n + 383`:
/// shifted to the exponent's place they are -2^n, for `n` in [-126, 127].
const ROUND_NEGATED: f32 = 12_582_912.0 + 383.0;

/// Error function, within 2.05 ulp and never above one. 28 instructions: a division takes longer than half of them.
///
/// Near zero `x + x P(x^2)`. Beyond, `1 - 2^Q(|x|)`: the logarithm of what is missing to one is so smooth that a polynomial
/// of degree 5 does up to 4, from where on the result is one.
pub(in super::super) fn erf<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let (magnitude, square) = (a.abs(x), a.mul(x, x));
    let p = a.polynomial(
        square,
        &[-5.862_1e-4, 4.967_511e-3, -2.674_886_8e-2, 1.128_132_1e-1, -3.761_244_7e-1, 1.283_791_4e-1],
    );
    let near = a.fma(p, x, x);

    let limited = a.at_most(magnitude, 4.0);
    let q = a.polynomial(
        limited,
        &[-1.743_677e-3, 2.198_995_6e-2, -1.299_570_4e-1, -9.410_571e-1, -1.614_480_9, -3.167_848e-3],
    );
    let far = one_less_power(a, q);
    near_or_far(a, (x, magnitude), near, far, ERF_NEAR)
}

/// What an odd function is near zero, and from a border on what it is of the magnitude, with the sign of `x`.
pub(super) fn near_or_far<A: Arith>(
    a: &mut A,
    (x, magnitude): (A::V, A::V),
    near: A::V,
    far: A::V,
    border: f64,
) -> A::V {
    let far = a.copysign(far, x);
    let border = a.c(border);
    let is_near = a.cmp(Cmp::Olt, magnitude, border);
    a.select(is_near, near, far)
}

/// `1 - 2^q` for `q` in [-126, -2], with an absolute error of 3e-8.
fn one_less_power<A: Arith>(a: &mut A, q: A::V) -> A::V {
    let round = a.f(ROUND_NEGATED);
    let shifted = a.add(q, round);
    let n = a.sub(shifted, round);
    let fraction = a.sub(q, n);
    let p = a.polynomial(
        fraction,
        &[1.326_472_7e-3, 9.671_513e-3, 5.550_733_6e-2, 2.402_224_2e-1, std::f32::consts::LN_2, 1.0],
    );
    let bits = a.bits(shifted);
    let bits = a.int_with(Int::Shl, bits, 23);
    let (negated_power, one) = (a.of_bits(bits), a.f(1.0));
    a.fma(p, negated_power, one)
}
