//! Exponentials: reduction by powers of two, a polynomial of the rest, and the power put back.

use super::super::arith::{Arith, Int, Wide};
use super::{identity_near_zero, power_of_two};

/// Adding this to a float of magnitude below 2^22 rounds it to an integer, which then stands in the low bits.
const ROUND: f32 = 12_582_912.0;

/// [`ROUND`] and twice the bias of exponents, for [`scale`].
const ROUND_BIASED: f32 = ROUND + 254.0;

/// ln 2 in two parts; the first has so few bits that its products with exponents are exact.
const LN_2_HIGH: f32 = 0.693_359_4;
const LN_2_LOW: f32 = -2.121_944_4e-4;

/// `p * 2^n` for an integral float `n` given as a constant that rounds to integers, and twice the bias of exponents, and `n`: of
/// 32-bit floats in [-252, 256], of doubles in [-1080, 1030]. Half of the exponent is multiplied in at
/// a time: so results are denormal or infinite by one rounding, without a comparison.
pub(super) fn scale<A: Arith>(a: &mut A, p: A::V, shifted: A::V) -> A::V {
    let bits = a.bits(shifted);
    let half = a.int_with(Int::ShrU, bits, 1);
    let rest = a.int(Int::Sub, bits, half);
    [half, rest].into_iter().fold(p, |product, exponent| {
        let power = power_of_two(a, exponent);
        a.mul(product, power)
    })
}

/// `x` less its nearest multiple of ln 2, given in two parts, and that multiple plus `round`, which rounds it.
pub(super) fn reduced<A: Arith>(a: &mut A, x: A::V, round: f64, ln2: [f64; 2]) -> [A::V; 2] {
    let (log2e, round) = (a.c(std::f64::consts::LOG2_E), a.c(round));
    let shifted = a.fma(x, log2e, round);
    let n = a.sub(shifted, round);
    let [high, low] = ln2.map(|part| a.c(-part));
    let r = a.fma(n, high, x);
    [a.fma(n, low, r), shifted]
}

/// Of 32-bit floats.
fn reduce<A: Arith>(a: &mut A, x: A::V, round: f32) -> [A::V; 2] {
    reduced(a, x, round.into(), [LN_2_HIGH.into(), LN_2_LOW.into()])
}

/// Here the nearest power of two is 2^-126, the one whose half has no place among normal floats.
const VANISHES: f32 = -87.25;

/// e^x, within 1 ulp; zero where it would be below 2^-125.5, so that no result is denormal. 14 instructions.
///
/// Twice the polynomial times half the power: so what the largest power has to scale is infinite by one rounding, the
/// smallest power is zero, and neither needs a comparison. Denormal results would take twice as many instructions beside
/// the polynomial, and some machines a hundred times as long: what is masked off in a softmax is such an argument.
pub(in super::super) fn exp<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let x = a.clamp(x, VANISHES, 89.0);
    let [rest, shifted] = reduce(a, x, ROUND + 126.0);
    let twice =
        a.polynomial(rest, &[2.763_898e-3, 1.673_738_1e-2, 8.333_656e-2, 3.333_304_4e-1, 9.999_999e-1, 2.0, 2.0]);
    scale_by_half(a, twice, shifted)
}

/// e^x for an `x` that is not above zero, within 2 ulp and 0.05 ulp for each 1 that `x` is below zero; zero where [`exp`] is.
/// 11 instructions.
///
/// What a softmax sums: where `x` is far below zero, little of it is left in the sum. So one part of ln 2 is enough, and a
/// polynomial of degree 5.
pub(in super::super) fn exp_nonpositive<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let x = a.at_least(x, VANISHES);
    let (log2e, round) = (a.f(std::f32::consts::LOG2_E), a.f(ROUND + 126.0));
    let shifted = a.fma(x, log2e, round);
    let n = a.sub(shifted, round);
    let ln2 = a.f(-std::f32::consts::LN_2);
    let rest = a.fma(n, ln2, x);
    let twice = a.polynomial(rest, &[1.657_946_2e-2, 8.379_571e-2, 3.333_529_5e-1, 9.999_83e-1, 1.999_999_4, 2.0]);
    scale_by_half(a, twice, shifted)
}

/// `2p * 2^(n-1)` for an `n` that is given as `n + ROUND + 126`; zero for the least.
fn scale_by_half<A: Arith>(a: &mut A, twice: A::V, shifted: A::V) -> A::V {
    let bits = a.bits(shifted);
    let half_power = power_of_two(a, bits);
    a.mul(twice, half_power)
}

/// 2^f for `f` in [-0.5, 0.5].
fn exp2_of_fraction<A: Arith>(a: &mut A, f: A::V) -> A::V {
    a.polynomial(f, &[1.532_646_3e-4, 1.339_080_6e-3, 9.618_506e-3, 5.550_36e-2, 2.402_264_8e-1, 6.931_472e-1, 1.0])
}

/// 2^x, within 1 ulp, denormal results included. 17 instructions, 12 where the machine scales by powers of two.
pub(in super::super) fn exp2<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let x = a.clamp(x, -151.0, 129.0);
    let round = a.f(ROUND_BIASED);
    let shifted = a.add(x, round);
    let n = a.sub(shifted, round);
    let fraction = a.sub(x, n);
    let p = exp2_of_fraction(a, fraction);
    if a.scales() { a.scale(p, n) } else { scale(a, p, shifted) }
}

/// 2^x rounded to a 32-bit float for a double `x` in [-160, 160].
pub(super) fn exp2_of_double<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let round = a.d(6_755_399_441_055_744.0);
    let shifted = a.wide(Wide::Add, x, round);
    let n = a.wide(Wide::Sub, shifted, round);
    let fraction = a.wide(Wide::Sub, x, n);
    let (fraction, n) = (a.narrow(fraction), a.narrow(n));
    let p = exp2_of_fraction(a, fraction);
    if a.scales() {
        return a.scale(p, n);
    }
    let round = a.f(ROUND_BIASED);
    let shifted = a.add(n, round);
    scale(a, p, shifted)
}

/// e^x - 1, within 1.75 ulp.
pub(in super::super) fn expm1<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let limited = a.clamp(x, -18.0, 89.0);
    let [r, shifted] = reduce(a, limited, ROUND + 126.0);
    let q = a.polynomial(r, &[1.389_898_8e-3, 8.366_136e-3, 4.166_684_7e-2, 1.666_654_8e-1, 0.5]);
    let square = a.mul(r, r);
    let p = a.fma(q, square, r);
    less_one(a, x, [p, shifted], 1.0 / 33_554_432.0)
}

/// 2^n (p + 1) - 1 for the p of what reduction of `x` leaves, as 2 (2^(n-1) p + (2^(n-1) - 1/2)), and `x` itself below `limit`.
pub(super) fn less_one<A: Arith>(a: &mut A, x: A::V, [p, shifted]: [A::V; 2], limit: f64) -> A::V {
    let bits = a.bits(shifted);
    let (power, half) = (power_of_two(a, bits), a.f(0.5));
    let less = a.sub(power, half);
    let halved = a.fma(p, power, less);
    let result = a.add(halved, halved);
    // Half of a denormal may not be a float, and the sign of zero is the argument's.
    identity_near_zero(a, x, limit, result)
}
