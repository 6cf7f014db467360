//! Logarithms: exponent and mantissa apart, a polynomial of the mantissa around one.

use super::super::arith::{Arith, Cmp, Int, Wide};

/// Bits of the float nearest to 2/3: mantissas are from there to twice it.
const TWO_THIRDS: i32 = 0x3f2a_aaab;

/// Bits of sign and exponent.
const EXPONENT: i32 = 0x7f80_0000_u32 as i32 | i32::MIN;

/// (ln(1 + r) - r) / r^2 on [-1/3, 1/3].
const NATURAL: [f32; 9] = [
    -1.287_928_5e-1,
    1.398_559_4e-1,
    -1.218_745_4e-1,
    1.400_554_3e-1,
    -1.668_022e-1,
    2.001_043_6e-1,
    -2.499_980_5e-1,
    3.333_321_5e-1,
    -0.5,
];

/// The same for the binary logarithm: (log2(1 + r) - r / ln 2) / r^2.
const BINARY: [f32; 9] = [
    -1.854_465_5e-1,
    2.015_951_7e-1,
    -1.759_387_4e-1,
    2.020_983e-1,
    -2.406_324_6e-1,
    2.886_865e-1,
    -3.606_715_2e-1,
    4.808_967e-1,
    -7.213_475e-1,
];

/// And for the decimal one: (log10(1 + r) - r / ln 10) / r^2.
const DECIMAL: [f32; 9] = [
    -5.622_303_5e-2,
    6.081_076e-2,
    -5.284_512e-2,
    6.080_895_3e-2,
    -7.244_995e-2,
    8.690_538e-2,
    -1.085_724_1e-1,
    1.447_642_9e-1,
    -2.171_472_5e-1,
];

/// A positive finite `x` as `2^e * (1 + r)`: `r` in [-1/3, 1/3] and the float `e`.
fn split<A: Arith>(a: &mut A, x: A::V) -> (A::V, A::V) {
    let (least, two23) = (a.f(f32::MIN_POSITIVE), a.f(8_388_608.0));
    let denormal = a.cmp(Cmp::Olt, x, least);
    let scaled = a.mul(x, two23);
    let normal = a.select(denormal, scaled, x);
    let (less, none) = (a.f(-23.0), a.f(0.0));
    let correction = a.select(denormal, less, none);
    let bits = a.bits(normal);
    let distance = a.int_with(Int::Sub, bits, TWO_THIRDS);
    let exponent = a.int_with(Int::And, distance, EXPONENT);
    let mantissa = a.int(Int::Sub, bits, exponent);
    let (m, one) = (a.of_bits(mantissa), a.f(1.0));
    (a.sub(m, one), exponent_value(a, exponent, correction))
}

/// The number that stands in the place of the exponent, plus another.
fn exponent_value<A: Arith>(a: &mut A, exponent: A::V, plus: A::V) -> A::V {
    let (shifted, width) = (a.to_float(exponent), a.f(1.0 / 8_388_608.0));
    a.fma(shifted, width, plus)
}

/// `ln(2^e (1 + r))`.
fn natural<A: Arith>(a: &mut A, r: A::V, e: A::V) -> A::V {
    let p = a.polynomial(r, &NATURAL);
    let square = a.mul(r, r);
    let sum = a.fma(p, square, r);
    let ln2 = a.f(std::f32::consts::LN_2);
    a.fma(e, ln2, sum)
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
pub(in super::super) fn log<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let (r, e) = split(a, x);
    let result = natural(a, r, e);
    edges(a, x, result)
}

/// Binary logarithm, within 1.5 ulp; exact at powers of two.
pub(in super::super) fn log2<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let (r, e) = split(a, x);
    let p = a.polynomial(r, &BINARY);
    let (high, low) = (a.f(std::f32::consts::LOG2_E), a.f(1.925_963e-8));
    let (square, rest) = (a.mul(r, r), a.mul(r, low));
    let tail = a.fma(p, square, rest);
    let fraction = a.fma(r, high, tail);
    let result = a.add(e, fraction);
    edges(a, x, result)
}

/// Decimal logarithm, within 1.5 ulp.
pub(in super::super) fn log10<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let (r, e) = split(a, x);
    let p = a.polynomial(r, &DECIMAL);
    let (high, low) = (a.f(std::f32::consts::LOG10_E), a.f(-1.010_305e-8));
    let (square, rest) = (a.mul(r, r), a.mul(r, low));
    let tail = a.fma(p, square, rest);
    let (two_high, two_low) = (a.f(std::f32::consts::LOG10_2), a.f(-1.432_098_9e-8));
    let tail = a.fma(e, two_low, tail);
    let fraction = a.fma(r, high, tail);
    let result = a.fma(e, two_high, fraction);
    edges(a, x, result)
}

/// ln(1 + x), within 1.75 ulp. The power of two comes from the rounded sum, and what the mantissa needs of it is taken
/// from `x` without rounding.
pub(in super::super) fn log1p<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let one = a.f(1.0);
    let sum = a.add(x, one);
    let bits = a.bits(sum);
    let distance = a.int_with(Int::Sub, bits, TWO_THIRDS);
    let exponent = a.int_with(Int::And, distance, EXPONENT);
    let own = a.bits(x);
    let scaled = a.int(Int::Sub, own, exponent);
    // Four times the inverse of the power, for the inverse itself may be denormal.
    let four = a.f(4.0);
    let inverse = a.bits(four);
    let inverse = a.int(Int::Sub, inverse, exponent);
    let (inverse, quarter, minus_one) = (a.of_bits(inverse), a.f(0.25), a.f(-1.0));
    let rest = a.fma(inverse, quarter, minus_one);
    let scaled = a.of_bits(scaled);
    let r = a.add(scaled, rest);
    let zero = a.f(0.0);
    let e = exponent_value(a, exponent, zero);
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

/// The binary logarithm of a positive `x` as a double, to 40 bits; infinite or NaN where `x` is; not that of zero.
pub(super) fn log2_as_double<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let (r, e) = split(a, x);
    let (r, e) = (a.widen(r), a.widen(e));
    // s = (m - 1) / (m + 1), for the series of the inverse hyperbolic tangent.
    let two = a.d(2.0);
    let sum = a.wide(Wide::Add, r, two);
    let s = a.wide(Wide::Div, r, sum);
    let square = a.wide(Wide::Mul, s, s);
    let p = a.polynomial_wide(
        square,
        &[
            0.291_561_130_425_237_2,
            0.319_218_476_943_157,
            0.412_228_272_268_951,
            0.577_077_728_988_227_3,
            0.961_796_694_941_255_9,
            2.885_390_081_777_345_5,
        ],
    );
    let fraction = a.wide(Wide::Mul, s, p);
    let result = a.wide(Wide::Add, e, fraction);
    let (infinity, own) = (a.f(f32::INFINITY), a.widen(x));
    let finite = a.cmp(Cmp::Olt, x, infinity);
    a.select(finite, result, own)
}
