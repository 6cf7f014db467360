//! Powers with any exponent.

use super::super::arith::{Arith, Cmp, Int, Wide};
use super::exponential::exp2_of_double;
use super::logarithm::log2_as_double;

/// x^y, within 1 ulp, with all the special cases of IEEE 754's `pow`: the logarithm and its product with `y` are
/// doubles, for an error there is multiplied by up to 128.
pub(in super::super) fn pow<A: Arith>(a: &mut A, x: A::V, y: A::V) -> A::V {
    let magnitude = a.abs(x);
    let log = log2_as_double(a, magnitude);
    let zero = a.f(0.0);
    let is_zero = a.cmp(Cmp::Oeq, x, zero);
    let least = a.d(f64::NEG_INFINITY);
    let log = a.select(is_zero, least, log);
    // With a finite exponent the power of one is one, and all others with an infinite one are far out of range.
    let limited = a.clamp(y, -f32::MAX, f32::MAX);
    let limited = a.widen(limited);
    let t = a.wide(Wide::Mul, log, limited);
    let (low, high) = (a.d(-160.0), a.d(160.0));
    let under = a.wide_less(t, low);
    let t = a.select(under, low, t);
    let over = a.wide_less(high, t);
    let t = a.select(over, high, t);
    let result = exp2_of_double(a, t);
    let result = signed(a, x, y, result);
    ends(a, x, y, result)
}

/// The powers with zero, and those of one, are one: whatever the other operand, NaN included.
pub(super) fn ends<A: Arith>(a: &mut A, x: A::V, y: A::V, result: A::V) -> A::V {
    let (zero, one) = (a.f(0.0), a.f(1.0));
    let to_zero = a.cmp(Cmp::Oeq, y, zero);
    let result = a.select(to_zero, one, result);
    let of_one = a.cmp(Cmp::Oeq, x, one);
    a.select(of_one, one, result)
}

/// The power of a base below zero, given that of its magnitude: negative for odd exponents, NaN for fractions.
pub(super) fn signed<A: Arith>(a: &mut A, x: A::V, y: A::V, result: A::V) -> A::V {
    let (magnitude, half) = (a.abs(y), a.f(0.5));
    let halved = a.mul(magnitude, half);
    let (whole, whole_half) = (super::nearest_integer(a, magnitude), super::nearest_integer(a, halved));
    let is_fraction = a.cmp(Cmp::One, whole, magnitude);
    let is_odd_or_fraction = a.cmp(Cmp::One, whole_half, halved);
    let (bits, none) = (a.bits(x), a.i(0));
    // The sign bit alone.
    let minus_zero = a.f(-0.0);
    let mask = a.bits(minus_zero);
    let sign = a.int(Int::And, bits, mask);
    let sign = a.select(is_odd_or_fraction, sign, none);
    let sign = a.select(is_fraction, none, sign);
    let bits = a.bits(result);
    let bits = a.int(Int::Xor, bits, sign);
    let result = a.of_bits(bits);
    let (zero, least, nan) = (a.f(0.0), a.f(f32::NEG_INFINITY), a.f(f32::NAN));
    let negative = a.cmp(Cmp::Olt, x, zero);
    let finite = a.cmp(Cmp::Olt, least, x);
    let undefined = a.both(negative, finite);
    let undefined = a.both(undefined, is_fraction);
    a.select(undefined, nan, result)
}
