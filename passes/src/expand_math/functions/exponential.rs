//! Exponentials: reduction by powers of two, a polynomial of the rest, and the power put back.

use super::super::arith::{Arith, Cmp, Int, Wide};

/// Adding this to a float of magnitude below 2^22 rounds it to an integer, which then stands in the low bits.
const ROUND: f32 = 12_582_912.0;

/// [`ROUND`] and twice the bias of exponents, for [`scale`].
const ROUND_BIASED: f32 = ROUND + 254.0;

/// ln 2 in two parts; the first has so few bits that its products with exponents are exact.
const LN_2_HIGH: f32 = 0.693_359_4;
const LN_2_LOW: f32 = -2.121_944_4e-4;

/// `p * 2^n` for an integral float `n` in [-252, 256] given as `n + ROUND_BIASED`. Half of the exponent is multiplied in at
/// a time: so results are denormal or infinite by one rounding, without a comparison.
fn scale<A: Arith>(a: &mut A, p: A::V, shifted: A::V) -> A::V {
    let bits = a.bits(shifted);
    let half = a.int_with(Int::ShrU, bits, 1);
    let rest = a.int(Int::Sub, bits, half);
    [half, rest].into_iter().fold(p, |product, exponent| {
        // What stands above the exponent in the bits of the rounding constant is shifted out.
        let bits = a.int_with(Int::Shl, exponent, 23);
        let power = a.of_bits(bits);
        a.mul(product, power)
    })
}

/// What is left of a number when a whole part `n` is taken off.
struct Reduced<V> {
    rest: V,
    n: V,
    /// `n` plus the constant that rounded it.
    shifted: V,
}

/// `x` less its nearest multiple of ln 2.
fn reduce<A: Arith>(a: &mut A, x: A::V, round: f32) -> Reduced<A::V> {
    let (log2e, round) = (a.f(std::f32::consts::LOG2_E), a.f(round));
    let shifted = a.fma(x, log2e, round);
    let n = a.sub(shifted, round);
    let (high, low) = (a.f(-LN_2_HIGH), a.f(-LN_2_LOW));
    let r = a.fma(n, high, x);
    Reduced { rest: a.fma(n, low, r), n, shifted }
}

/// Below this e^x rounds to zero.
const VANISHES: f32 = -104.0;

/// e^x, within 1 ulp, denormal results included. 20 instructions, 16 where the machine scales by powers of two.
pub(in super::super) fn exp<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let (vanishes, zero) = (a.f(VANISHES), a.f(0.0));
    let gone = a.cmp(Cmp::Olt, x, vanishes);
    let polynomial = |a: &mut A, r| {
        a.polynomial(r, &[1.381_949e-3, 8.368_690_5e-3, 4.166_828e-2, 1.666_652_2e-1, 4.999_999_4e-1, 1.0, 1.0])
    };
    if a.scales() {
        let x = a.at_most(x, 89.0);
        let Reduced { rest, n, .. } = reduce(a, x, ROUND);
        let p = polynomial(a, rest);
        let result = a.scale(p, n);
        return a.select(gone, zero, result);
    }
    let x = a.clamp(x, VANISHES, 89.0);
    let Reduced { rest, shifted, .. } = reduce(a, x, ROUND_BIASED);
    let p = polynomial(a, rest);
    // Machines take a hundred times as long for a product that underflows as for one with zero, and what is masked off in
    // a softmax is such an argument.
    let p = a.select(gone, zero, p);
    scale(a, p, shifted)
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

/// e^x - 1, within 1.75 ulp. 2^n (p + 1) - 1 for the p of what reduction leaves, as 2 (2^(n-1) p + (2^(n-1) - 1/2)).
pub(in super::super) fn expm1<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let limited = a.clamp(x, -18.0, 89.0);
    let Reduced { rest: r, shifted, .. } = reduce(a, limited, ROUND + 126.0);
    let q = a.polynomial(r, &[1.389_898_8e-3, 8.366_136e-3, 4.166_684_7e-2, 1.666_654_8e-1, 0.5]);
    let square = a.mul(r, r);
    let p = a.fma(q, square, r);
    let bits = a.bits(shifted);
    let bits = a.int_with(Int::Shl, bits, 23);
    let (power, half) = (a.of_bits(bits), a.f(0.5));
    let less = a.sub(power, half);
    let halved = a.fma(p, power, less);
    let result = a.add(halved, halved);
    // Half of a denormal may not be a float, and the sign of zero is the argument's.
    super::identity_near_zero(a, x, 1.0 / 33_554_432.0, result)
}
