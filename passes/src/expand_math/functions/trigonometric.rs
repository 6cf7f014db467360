//! Sine, cosine and tangent of any finite float.
//!
//! Arguments are reduced by multiples of pi/2. Up to [`LIMIT`] three fused steps do it, after Cody and Waite; beyond, the bits
//! of 2/pi that matter are multiplied with the mantissa in integers, after Payne and Hanek. Loops take the second way only
//! when a lane needs it.

use super::super::arith::{Arith, Cmp, Int};

/// Largest argument whose multiple of pi/2 has at most 16 bits.
const LIMIT: f32 = 65536.0;

/// pi/2 as a sum, each part rounded toward zero: then no product with zero has the other sign.
const HALF_PI: [f32; 3] = [f32::from_bits(0x3fc9_0fda), 7.549_789_4e-8, 5.390_302_5e-15];

/// Nine zeros, then the binary fraction of 2/pi: so the bit at index `e - 16` has weight 2 in `2/pi * 2^(e - 23)`.
const TWO_OVER_PI: [u32; 7] =
    [0x0051_7cc1, 0xb727_220a, 0x94fe_13ab, 0xe8fa_9a6e, 0xe06d_b14a, 0xcc9e_21c8, 0x20ff_28b1];

/// `x` less the nearest multiple of pi/2, and the low bits of that multiple. NaN for infinity and NaN.
fn reduce<A: Arith>(a: &mut A, x: A::V) -> (A::V, A::V) {
    let (factor, round) = (a.f(std::f32::consts::FRAC_2_PI), a.f(12_582_912.0));
    let shifted = a.fma(x, factor, round);
    let n = a.sub(shifted, round);
    let r = HALF_PI.iter().fold(x, |r, part| {
        let part = a.f(-part);
        a.fma(n, part, r)
    });
    let q = a.bits(shifted);
    let (magnitude, limit) = (a.abs(x), a.f(LIMIT));
    let usual = a.cmp(Cmp::Olt, magnitude, limit);
    let [r, q] = a.rarely(usual, [r, q], |a| reduce_large(a, x));
    (r, q)
}

/// The same for magnitudes from [`LIMIT`] on.
fn reduce_large<A: Arith>(a: &mut A, x: A::V) -> [A::V; 2] {
    let bits = a.bits(x);
    let mantissa = a.int_with(Int::And, bits, 0x007f_ffff);
    let mantissa = a.int_with(Int::Or, mantissa, 0x0080_0000);
    let exponent = a.int_with(Int::ShrU, bits, 23);
    let exponent = a.int_with(Int::And, exponent, 255);
    let offset = a.int_with(Int::Sub, exponent, 127 + 16);
    let [first, second, third] = window(a, offset);
    // Two bits before the point and 62 behind it: what is above are whole turns.
    let high = a.int(Int::Mul, mantissa, first);
    let middle = a.int(Int::MulHigh, mantissa, second);
    let high = a.int(Int::Add, high, middle);
    let low = a.int(Int::Mul, mantissa, second);
    let rest = a.int(Int::MulHigh, mantissa, third);
    let sum = a.int(Int::Add, low, rest);
    let (wrapped, one, none) = (a.below(sum, low), a.i(1), a.i(0));
    let carry = a.select(wrapped, one, none);
    let high = a.int(Int::Add, high, carry);
    // The nearest multiple, and what is left with its sign.
    let rounded = a.int_with(Int::Add, high, 1 << 29);
    let q = a.int_with(Int::ShrU, rounded, 30);
    let whole = a.int_with(Int::Shl, q, 30);
    let left = a.int(Int::Sub, high, whole);
    let sum = a.int_with(Int::ShrU, sum, 1);
    let (left, sum) = (a.to_float(left), a.to_float(sum));
    let (scale, low_scale) = (a.f(2f32.powi(-30)), a.f(2f32.powi(-61)));
    let left = a.mul(left, scale);
    let fraction = a.fma(sum, low_scale, left);
    let (high, low) = (a.f(std::f32::consts::FRAC_PI_2), a.f(-4.371_139e-8));
    let tail = a.mul(fraction, low);
    let r = a.fma(fraction, high, tail);
    // Of negative arguments both are the negative.
    let sign = a.int_with(Int::And, bits, i32::MIN);
    let r = a.bits(r);
    let r = a.int(Int::Xor, r, sign);
    let r = a.of_bits(r);
    let mask = a.int_with(Int::ShrS, bits, 31);
    let q = a.int(Int::Xor, q, mask);
    let q = a.int(Int::Sub, q, mask);
    // inf - inf and NaN - NaN are NaN, what is finite gives zero.
    let nothing = a.sub(x, x);
    [a.add(r, nothing), q]
}

/// The 96 bits of [`TWO_OVER_PI`] from the bit `offset`, which is below 112.
fn window<A: Arith>(a: &mut A, offset: A::V) -> [A::V; 3] {
    let index = a.int_with(Int::ShrU, offset, 5);
    let [one, two, three] = [1, 2, 3].map(|at| {
        let at = a.i(at);
        a.same(index, at)
    });
    let words = [0, 1, 2, 3].map(|at: usize| {
        let [w0, w1, w2, w3] = [0, 1, 2, 3].map(|by| a.i(TWO_OVER_PI[at + by] as i32));
        let word = a.select(one, w1, w0);
        let word = a.select(two, w2, word);
        a.select(three, w3, word)
    });
    let distance = a.int_with(Int::And, offset, 31);
    let inverse = a.int_with(Int::Xor, distance, 31);
    [0, 1, 2].map(|at| {
        let left = a.int(Int::Shl, words[at], distance);
        // By one and by the rest, for a distance of 32 is no distance.
        let right = a.int_with(Int::ShrU, words[at + 1], 1);
        let right = a.int(Int::ShrU, right, inverse);
        a.int(Int::Or, left, right)
    })
}

/// Sine and cosine of `r` in [-pi/4, pi/4].
fn polynomials<A: Arith>(a: &mut A, r: A::V) -> (A::V, A::V) {
    let square = a.mul(r, r);
    let p = a.polynomial(square, &[-1.951_839_2e-4, 8.332_19e-3, -1.666_665_5e-1]);
    let p = a.mul(p, square);
    let sine = a.fma(p, r, r);
    let cosine = a.polynomial(square, &[2.443_233e-5, -1.388_731e-3, 4.166_664_6e-2, -0.5, 1.0]);
    (sine, cosine)
}

/// Whether the low bit of `q` is set.
fn is_odd<A: Arith>(a: &mut A, q: A::V) -> A::V {
    let bit = a.int_with(Int::And, q, 1);
    let one = a.i(1);
    a.same(bit, one)
}

/// Bits of a float.
fn width<A: Arith>(a: &A) -> i32 {
    if a.digits() == f32::MANTISSA_DIGITS { 32 } else { 64 }
}

/// The sine of `r + q pi/2`, given sine and cosine of `r`.
pub(super) fn sine_of_turned<A: Arith>(a: &mut A, (sine, cosine): (A::V, A::V), q: A::V) -> A::V {
    let odd = is_odd(a, q);
    let value = a.select(odd, cosine, sine);
    let sign = a.int_with(Int::Shl, q, width(a) - 2);
    with_sign(a, value, sign)
}

/// The tangent of `r + q pi/2`, given sine and cosine of `r`.
pub(super) fn tangent_of_turned<A: Arith>(a: &mut A, (sine, cosine): (A::V, A::V), q: A::V) -> A::V {
    let odd = is_odd(a, q);
    let (over, under) = (a.select(odd, cosine, sine), a.select(odd, sine, cosine));
    let ratio = a.div(over, under);
    let sign = a.int_with(Int::Shl, q, width(a) - 1);
    with_sign(a, ratio, sign)
}

/// `value` with its sign changed where the highest bit of `sign` is set.
pub(super) fn with_sign<A: Arith>(a: &mut A, value: A::V, sign: A::V) -> A::V {
    let highest = a.l(i64::MIN >> (64 - width(a)));
    let sign = a.int(Int::And, sign, highest);
    let bits = a.bits(value);
    let bits = a.int(Int::Xor, bits, sign);
    a.of_bits(bits)
}

/// Sine, within 3 ulp for every finite argument.
pub(in super::super) fn sin<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let (r, q) = reduce(a, x);
    let both = polynomials(a, r);
    let result = sine_of_turned(a, both, q);
    super::identity_near_zero(a, x, 1.0 / 8192.0, result)
}

/// Cosine, within 3 ulp for every finite argument.
pub(in super::super) fn cos<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let (r, q) = reduce(a, x);
    let q = a.int_with(Int::Add, q, 1);
    let both = polynomials(a, r);
    sine_of_turned(a, both, q)
}

/// Tangent, within 4.25 ulp for every finite argument.
pub(in super::super) fn tan<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let (r, q) = reduce(a, x);
    let both = polynomials(a, r);
    let result = tangent_of_turned(a, both, q);
    super::identity_near_zero(a, x, 1.0 / 8192.0, result)
}
