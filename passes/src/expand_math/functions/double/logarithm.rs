//! Logarithms of doubles.

use super::super::super::arith::{Arith, Cmp, Int};
use super::{LN_2, MANTISSA, Pair, sum_of_sorted};

/// Bits of the double nearest to 2/3: mantissas are from there to twice it.
const TWO_THIRDS: i64 = 0x3fe5_5555_5555_5555;

/// Bits of sign and exponent.
const EXPONENT: i64 = i64::MIN >> 11;

/// (ln((1 + s) / (1 - s)) / s - 2) / s^2 of s^2, for s in [-1/5, 1/5].
const REST: [f64; 9] = [
    0.126_419_156_149_743_03,
    0.115_793_450_328_783_63,
    0.133_421_506_690_708_99,
    0.153_843_644_325_082_1,
    0.181_818_225_663_887_33,
    0.222_222_221_760_474_01,
    0.285_714_285_717_033_3,
    0.399_999_999_999_992,
    0.666_666_666_666_666_6,
];

/// 1 / ln 2, and what is missing to it.
const LOG2_E: [f64; 2] = [std::f64::consts::LOG2_E, 2.035_527_374_093_103_3e-17];

/// 1 / ln 10.
const LOG10_E: [f64; 2] = [std::f64::consts::LOG10_E, 1.098_319_650_216_765e-17];

/// ln 2 / ln 10.
const LOG10_2: [f64; 2] = [std::f64::consts::LOG10_2, -2.803_728_127_785_170_4e-18];

/// A positive finite `x` as `2^e * (1 + r)`: `r` in [-1/3, 1/3], and the number `e`.
pub(super) fn split<A: Arith>(a: &mut A, x: A::V) -> [A::V; 2] {
    let (least, two54) = (a.c(f64::MIN_POSITIVE), a.c(2f64.powi(54)));
    let denormal = a.cmp(Cmp::Olt, x, least);
    let scaled = a.mul(x, two54);
    let normal = a.select(denormal, scaled, x);
    let (less, none) = (a.f(-54.0), a.f(0.0));
    let correction = a.select(denormal, less, none);
    let bits = a.bits(normal);
    let (exponent, mantissa) = exponent_and_mantissa(a, bits, bits);
    let (m, one) = (a.of_bits(mantissa), a.f(1.0));
    let e = exponent_value(a, exponent);
    [a.sub(m, one), a.add(e, correction)]
}

/// The exponent, in its place, that brings `bits` next to one; and `scaled` less it.
fn exponent_and_mantissa<A: Arith>(a: &mut A, bits: A::V, scaled: A::V) -> (A::V, A::V) {
    let (two_thirds, mask) = (a.l(TWO_THIRDS), a.l(EXPONENT));
    let distance = a.int(Int::Sub, bits, two_thirds);
    let exponent = a.int(Int::And, distance, mask);
    (exponent, a.int(Int::Sub, scaled, exponent))
}

/// The number that stands in the place of the exponent.
fn exponent_value<A: Arith>(a: &mut A, exponent: A::V) -> A::V {
    let shifted = a.int_with(Int::ShrS, exponent, MANTISSA);
    a.to_float(shifted)
}

/// What `ln(1 + r)` is beyond `r`: `s (R - r)`, with the `R` of the series and s = r / (2 + r).
fn beyond<A: Arith>(a: &mut A, r: A::V) -> A::V {
    let two = a.f(2.0);
    let under = a.add(two, r);
    let s = a.div(r, under);
    let square = a.mul(s, s);
    let series = a.series(square, &REST);
    let rest = a.mul(series, square);
    let less = a.sub(rest, r);
    a.mul(s, less)
}

/// `ln(2^e (1 + r))`.
fn natural<A: Arith>(a: &mut A, r: A::V, e: A::V) -> A::V {
    let beyond = beyond(a, r);
    let (high, low) = (a.c(LN_2[0]), a.c(LN_2[1]));
    // Of the product with e the part that a double does not hold is kept.
    let whole = a.mul(e, high);
    let zero = a.f(0.0);
    let negative = a.sub(zero, whole);
    let lost = a.fma(e, high, negative);
    let lost = a.fma(e, low, lost);
    let Pair { high, low } = sum_of_sorted(a, whole, r);
    let lost = a.add(lost, low);
    let tail = a.add(beyond, lost);
    a.add(high, tail)
}

/// `e * unit + factor * ln(1 + r)`: where `e` is not zero the first is the larger one.
fn of_base<A: Arith>(a: &mut A, r: A::V, whole: Pair<A::V>, factor: [f64; 2]) -> A::V {
    let beyond = beyond(a, r);
    let factor = Pair::constant(a, factor);
    let Pair { high, low } = factor.times_number(a, r);
    let tail = a.fma(beyond, factor.high, low);
    let Pair { high, low } = sum_of_sorted(a, whole.high, high);
    let low = a.add(low, whole.low);
    let tail = a.add(tail, low);
    a.add(high, tail)
}

/// Where the argument `x` is zero, below, infinite or NaN: -inf, NaN, infinity, NaN.
fn edges<A: Arith>(a: &mut A, x: A::V, result: A::V) -> A::V {
    let (zero, infinity) = (a.f(0.0), a.f(f32::INFINITY));
    let finite = a.cmp(Cmp::Olt, x, infinity);
    let result = a.select(finite, result, x);
    let (nan, least) = (a.f(f32::NAN), a.f(f32::NEG_INFINITY));
    let negative = a.cmp(Cmp::Olt, x, zero);
    let result = a.select(negative, nan, result);
    let is_zero = a.cmp(Cmp::Oeq, x, zero);
    a.select(is_zero, least, result)
}

/// Natural logarithm, within 1 ulp; -inf at zero, NaN below.
pub(in super::super::super) fn log<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let [r, e] = split(a, x);
    let result = natural(a, r, e);
    edges(a, x, result)
}

/// Binary logarithm, within 1 ulp; exact at powers of two.
pub(in super::super::super) fn log2<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let [r, e] = split(a, x);
    let whole = Pair { high: e, low: a.f(0.0) };
    let result = of_base(a, r, whole, LOG2_E);
    edges(a, x, result)
}

/// Decimal logarithm, within 1 ulp.
pub(in super::super::super) fn log10<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let [r, e] = split(a, x);
    let whole = Pair::constant(a, LOG10_2).times_number(a, e);
    let result = of_base(a, r, whole, LOG10_E);
    edges(a, x, result)
}

/// ln(1 + x), within 1 ulp. The power of two comes from the rounded sum, and what the mantissa needs of it is taken
/// from `x` without rounding.
pub(in super::super::super) fn log1p<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let one = a.f(1.0);
    let (sum, own) = (a.add(x, one), a.bits(x));
    let bits = a.bits(sum);
    let (exponent, scaled) = exponent_and_mantissa(a, bits, own);
    // Four times the inverse of the power, for the inverse itself may be denormal.
    let four = a.f(4.0);
    let inverse = a.bits(four);
    let inverse = a.int(Int::Sub, inverse, exponent);
    let (inverse, quarter, minus_one) = (a.of_bits(inverse), a.f(0.25), a.f(-1.0));
    let rest = a.fma(inverse, quarter, minus_one);
    let scaled = a.of_bits(scaled);
    let r = a.add(scaled, rest);
    let e = exponent_value(a, exponent);
    let result = natural(a, r, e);
    let infinity = a.f(f32::INFINITY);
    let finite = a.cmp(Cmp::Olt, x, infinity);
    let result = a.select(finite, result, x);
    let (nan, least) = (a.f(f32::NAN), a.f(f32::NEG_INFINITY));
    let outside = a.cmp(Cmp::Olt, x, minus_one);
    let result = a.select(outside, nan, result);
    let pole = a.cmp(Cmp::Oeq, x, minus_one);
    let result = a.select(pole, least, result);
    // The sign of zero is the argument's.
    a.copysign(result, x)
}
