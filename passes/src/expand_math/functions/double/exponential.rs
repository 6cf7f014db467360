//! Exponentials of doubles.

use super::super::super::arith::Arith;
use super::super::exponential::{less_one, reduced, scale};
use super::{LN_2, ROUND, clamp, nearest};

/// (e^r - 1 - r) / r^2 on [-ln 2 / 2, ln 2 / 2].
const REST: [f64; 11] = [
    2.092_692_442_719_48e-9,
    2.511_228_867_720_976e-8,
    2.755_723_342_715_162e-7,
    2.755_723_409_861_472e-6,
    2.480_158_737_365_123e-5,
    0.000_198_412_698_971_951_58,
    0.001_388_888_888_885_849_7,
    0.008_333_333_333_316_685,
    0.041_666_666_666_666_73,
    0.166_666_666_666_666_85,
    0.5,
];

/// (2^f - 1) / f on [-0.5, 0.5].
const OF_FRACTION: [f64; 11] = [
    4.457_384_632_231_914e-10,
    7.073_860_830_943_572e-9,
    1.017_804_647_826_171_5e-7,
    1.321_543_481_344_920_3e-6,
    1.525_273_386_750_362_4e-5,
    0.000_154_035_304_580_857_64,
    0.001_333_355_814_637_906_7,
    0.009_618_129_107_593_328,
    0.055_504_108_664_821_74,
    0.240_226_506_959_101_33,
    std::f64::consts::LN_2,
];

/// What exponents have added.
const BIAS: f64 = 1023.0;

/// `x` less its nearest multiple of ln 2, and that multiple plus [`ROUND`] and `plus`. The first part of ln 2 leaves nothing out:
/// the difference has fewer bits than a double.
fn reduce<A: Arith>(a: &mut A, x: A::V, plus: f64) -> [A::V; 2] {
    reduced(a, x, ROUND + plus, LN_2)
}

/// e^x, within 1 ulp, denormal results included.
pub(in super::super::super) fn exp<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let x = clamp(a, x, -746.0, 710.0);
    let [r, shifted] = reduce(a, x, 2.0 * BIAS);
    let (rest, square, one) = (a.series(r, &REST), a.mul(r, r), a.f(1.0));
    let p = a.fma(rest, square, r);
    let p = a.add(one, p);
    scale(a, p, shifted)
}

/// 2^f for `f` in [-0.5, 0.5].
pub(super) fn exp2_of_fraction<A: Arith>(a: &mut A, f: A::V) -> A::V {
    let (p, one) = (a.series(f, &OF_FRACTION), a.f(1.0));
    a.fma(p, f, one)
}

/// 2^(f + low) for `f` in [-0.5, 0.5] and a `low` that is far smaller than one. The largest term comes last, so that little is
/// rounded beside it.
pub(super) fn exp2_of_sum<A: Arith>(a: &mut A, f: A::V, low: A::V) -> A::V {
    let (power, one, ln2) = (exp2_of_fraction(a, f), a.f(1.0), a.c(LN_2[0]));
    let slope = a.mul(power, ln2);
    let of_low = a.mul(slope, low);
    let (rest, square) = (a.series(f, &OF_FRACTION[..OF_FRACTION.len() - 1]), a.mul(f, f));
    let beyond = a.fma(rest, square, of_low);
    let beyond = a.fma(f, ln2, beyond);
    a.add(one, beyond)
}

/// 2^x, within 1 ulp, denormal results included.
pub(in super::super::super) fn exp2<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let x = clamp(a, x, -1076.0, 1025.0);
    let [n, shifted] = nearest(a, x, 2.0 * BIAS);
    let fraction = a.sub(x, n);
    let p = exp2_of_fraction(a, fraction);
    scale(a, p, shifted)
}

/// e^x - 1, within 2 ulp.
pub(in super::super::super) fn expm1<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let limited = clamp(a, x, -38.0, 710.0);
    let [r, shifted] = reduce(a, limited, BIAS - 1.0);
    let (rest, square) = (a.series(r, &REST), a.mul(r, r));
    let p = a.fma(rest, square, r);
    less_one(a, x, [p, shifted], 2f64.powi(-54))
}
