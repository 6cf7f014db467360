//! Sine, cosine and tangent of any finite double, as of 32-bit floats.

use super::super::super::arith::{Arith, Cmp, Int};
use super::super::identity_near_zero;
use super::super::trigonometric::{sine_of_turned, tangent_of_turned, with_sign};
use super::{Pair, ROUND, product, sum, sum_of_sorted};

/// From there on arguments are reduced in integers.
const LIMIT: f64 = 1_073_741_824.0;

/// Its exponent.
const LIMIT_EXPONENT: i32 = 30;

/// pi/2 as a sum.
const HALF_PI: [f64; 3] = [std::f64::consts::FRAC_PI_2, 6.123_233_995_736_766e-17, -1.497_384_904_859_169_8e-33];

/// 24 zeros, then the binary fraction of 2/pi: so the bit at index `e - 30` has weight 2 in `2/pi * 2^(e - 52)`.
const TWO_OVER_PI: [u64; 20] = [
    0x0000_00a2_f983_6e4e,
    0x4415_29fc_2757_d1f5,
    0x34dd_c0db_6295_993c,
    0x4390_41fe_5163_abde,
    0xbbc5_61b7_246e_3a42,
    0x4dd2_e006_492e_ea09,
    0xd192_1cfe_1deb_1cb1,
    0x29a7_3ee8_8235_f52e,
    0xbb44_84e9_9c70_26b4,
    0x5f7e_4139_91d6_3983,
    0x5339_f49c_845f_8bbd,
    0xf928_3b1f_f897_ffde,
    0x0598_0fef_2f11_8b5a,
    0x0a6d_1f6d_367e_cf27,
    0xcb09_b74f_463f_669e,
    0x5fea_2d75_27ba_c7eb,
    0xe5f1_7b3d_0739_f78a,
    0x5292_ea6b_fb5f_b11f,
    0x8d5d_0856_0330_46fc,
    0x7b6b_abf0_cfbc_209a,
];

/// Words of [`TWO_OVER_PI`] in which the window of an argument may begin.
const BEGINS: usize = 16;

/// `x` less the nearest multiple of pi/2, and the low bits of that multiple. NaN for infinity and NaN.
fn reduce<A: Arith>(a: &mut A, x: A::V) -> (Pair<A::V>, A::V) {
    let (factor, round) = (a.c(std::f64::consts::FRAC_2_PI), a.c(ROUND));
    let shifted = a.fma(x, factor, round);
    let n = a.sub(shifted, round);
    let [first, second, third] = HALF_PI.map(|part| a.c(-part));
    // The difference has no more bits than a double.
    let r = a.fma(n, first, x);
    let taken = product(a, n, second);
    let Pair { high, low } = sum(a, r, taken.high);
    let low = a.add(low, taken.low);
    let low = a.fma(n, third, low);
    let r = sum_of_sorted(a, high, low);
    let q = a.bits(shifted);
    let (magnitude, limit) = (a.abs(x), a.c(LIMIT));
    let usual = a.cmp(Cmp::Olt, magnitude, limit);
    let [high, low, q] = a.rarely(usual, [r.high, r.low, q], |a| reduce_large(a, x));
    (Pair { high, low }, q)
}

/// The same for magnitudes from [`LIMIT`] on.
fn reduce_large<A: Arith>(a: &mut A, x: A::V) -> [A::V; 3] {
    let bits = a.bits(x);
    let (mask, hidden) = (a.l((1 << 52) - 1), a.l(1 << 52));
    let mantissa = a.int(Int::And, bits, mask);
    let mantissa = a.int(Int::Or, mantissa, hidden);
    let exponent = a.int_with(Int::ShrU, bits, 52);
    let exponent = a.int_with(Int::And, exponent, 0x7ff);
    let offset = a.int_with(Int::Sub, exponent, 1023 + LIMIT_EXPONENT);
    let [first, second, third] = window(a, offset);
    // Two bits before the point and 126 behind it: what is above are whole turns.
    let high = a.int(Int::Mul, mantissa, first);
    let middle = a.int(Int::MulHigh, mantissa, second);
    let high = a.int(Int::Add, high, middle);
    let low = a.int(Int::Mul, mantissa, second);
    let rest = a.int(Int::MulHigh, mantissa, third);
    let total = a.int(Int::Add, low, rest);
    let (wrapped, one, none) = (a.below(total, low), a.l(1), a.l(0));
    let carry = a.select(wrapped, one, none);
    let high = a.int(Int::Add, high, carry);
    // The nearest multiple, and what is left with its sign.
    let half = a.l(1 << 61);
    let rounded = a.int(Int::Add, high, half);
    let q = a.int_with(Int::ShrU, rounded, 62);
    let whole = a.int_with(Int::Shl, q, 62);
    let left = a.int(Int::Sub, high, whole);
    let fraction = fraction(a, left, total);
    let quarter = Pair::constant(a, [HALF_PI[0], HALF_PI[1]]);
    let r = fraction.times(a, quarter);
    // Of negative arguments both are the negative.
    let negative = a.int_with(Int::ShrS, bits, 63);
    let q = a.int(Int::Xor, q, negative);
    let q = a.int(Int::Sub, q, negative);
    // inf - inf and NaN - NaN are NaN, what is finite gives zero.
    let nothing = a.sub(x, x);
    let high = with_sign(a, r.high, bits);
    let low = with_sign(a, r.low, bits);
    [a.add(high, nothing), low, q]
}

/// `high 2^-62 + low 2^-126` for a signed and an unsigned integer.
fn fraction<A: Arith>(a: &mut A, high: A::V, low: A::V) -> Pair<A::V> {
    let mask = a.l(0xffff_ffff);
    let (top, bottom) = (a.int_with(Int::ShrS, high, 32), a.int(Int::And, high, mask));
    let (next, last) = (a.int_with(Int::ShrU, low, 32), a.int(Int::And, low, mask));
    let [top, bottom, next, last] = [(top, -30), (bottom, -62), (next, -94), (last, -126)].map(|(part, exponent)| {
        let (part, unit) = (a.to_float(part), a.c(2f64.powi(exponent)));
        a.mul(part, unit)
    });
    let Pair { high, low } = sum(a, top, bottom);
    let rest = a.add(next, last);
    let low = a.add(low, rest);
    sum(a, high, low)
}

/// The 192 bits of [`TWO_OVER_PI`] from the bit `offset`, which is below 64 times [`BEGINS`].
fn window<A: Arith>(a: &mut A, offset: A::V) -> [A::V; 3] {
    let index = a.int_with(Int::ShrU, offset, 6);
    let begins: Vec<A::V> = (1..BEGINS as i64)
        .map(|at| {
            let at = a.l(at);
            a.same(index, at)
        })
        .collect();
    let words = [0, 1, 2, 3].map(|at: usize| {
        let mut word = a.l(TWO_OVER_PI[at] as i64);
        for (by, is_there) in begins.iter().enumerate() {
            let there = a.l(TWO_OVER_PI[at + by + 1] as i64);
            word = a.select(*is_there, there, word);
        }
        word
    });
    let distance = a.int_with(Int::And, offset, 63);
    let inverse = a.int_with(Int::Xor, distance, 63);
    [0, 1, 2].map(|at| {
        let left = a.int(Int::Shl, words[at], distance);
        // By one and by the rest, for a distance of 64 is no distance.
        let right = a.int_with(Int::ShrU, words[at + 1], 1);
        let right = a.int(Int::ShrU, right, inverse);
        a.int(Int::Or, left, right)
    })
}

/// (sin r - r) / r^3 of r^2, for r in [-pi/4, pi/4].
const SINE: [f64; 7] = [
    -7.578_748_025_822_739e-13,
    1.605_836_762_121_385_6e-10,
    -2.505_210_491_923_959_3e-8,
    2.755_731_921_421_920_5e-6,
    -0.000_198_412_698_412_551_23,
    0.008_333_333_333_333_323,
    -0.166_666_666_666_666_66,
];

/// (cos r - 1 + r^2 / 2) / r^4 of r^2.
const COSINE: [f64; 6] = [
    -1.135_964_832_193_638_1e-11,
    2.087_572_328_527_681_3e-9,
    -2.755_731_435_243_976e-7,
    2.480_158_728_948_263e-5,
    -0.001_388_888_888_887_412_5,
    0.041_666_666_666_666_6,
];

/// Sine and cosine of `r` in [-pi/4, pi/4].
fn polynomials<A: Arith>(a: &mut A, r: Pair<A::V>) -> (A::V, A::V) {
    let (square, one, half) = (a.mul(r.high, r.high), a.f(1.0), a.f(0.5));
    let halved = a.mul(square, half);
    let near_one = a.sub(one, halved);
    let (p, cube) = (a.series(square, &SINE), a.mul(square, r.high));
    let by_low = a.mul(r.low, near_one);
    let beyond = a.fma(p, cube, by_low);
    let sine = a.add(r.high, beyond);
    // What the first difference lost.
    let lost = a.sub(one, near_one);
    let lost = a.sub(lost, halved);
    let (p, fourth) = (a.series(square, &COSINE), a.mul(square, square));
    let zero = a.f(0.0);
    let negative = a.sub(zero, r.high);
    let lost = a.fma(negative, r.low, lost);
    let beyond = a.fma(p, fourth, lost);
    (sine, a.add(near_one, beyond))
}

/// Below it sine and tangent are their argument.
const TINY: f64 = 1.0 / (1 << 27) as f64;

/// Sine, within 1 ulp for every finite argument.
pub(in super::super::super) fn sin<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let (r, q) = reduce(a, x);
    let both = polynomials(a, r);
    let result = sine_of_turned(a, both, q);
    identity_near_zero(a, x, TINY, result)
}

/// Cosine, within 1 ulp for every finite argument.
pub(in super::super::super) fn cos<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let (r, q) = reduce(a, x);
    let q = a.int_with(Int::Add, q, 1);
    let both = polynomials(a, r);
    sine_of_turned(a, both, q)
}

/// Tangent, within 2.25 ulp for every finite argument.
pub(in super::super::super) fn tan<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let (r, q) = reduce(a, x);
    let both = polynomials(a, r);
    let result = tangent_of_turned(a, both, q);
    identity_near_zero(a, x, TINY, result)
}
