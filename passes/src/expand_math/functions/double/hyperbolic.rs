//! Odd functions of doubles that go to one.

use super::super::super::arith::Arith;
use super::super::hyperbolic::near_or_far;
use super::super::power_of_two;
use super::exponential::{exp2_of_fraction, expm1};
use super::{clamp, nearest};

/// Hyperbolic tangent, within 3 ulp and never above one: -t / (2 + t) for t = e^(-2|x|) - 1.
pub(in super::super::super) fn tanh<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let (magnitude, minus_two, two) = (a.abs(x), a.f(-2.0), a.f(2.0));
    let twice = a.mul(magnitude, minus_two);
    let t = expm1(a, twice);
    let under = a.add(t, two);
    let ratio = a.div(t, under);
    a.copysign(ratio, x)
}

/// Where [`erf`] goes from one form to the other.
const NEAR: f64 = 0.95;

/// From there on it is one.
const ONE: f64 = 6.0;

/// erf(x) / x - 1 of x^2, up to [`NEAR`].
const OF_SQUARE: [f64; 13] = [
    6.227_558_890_439_101e-11,
    -1.152_083_903_664_448_8e-9,
    1.469_517_901_447_284e-8,
    -1.635_517_264_057_054_5e-7,
    1.646_142_298_683_205_3e-6,
    -1.492_561_948_922_026e-5,
    0.000_120_553_320_363_109_45,
    -0.000_854_832_700_401_979_9,
    0.005_223_977_625_185_644,
    -0.026_866_170_645_111_084,
    0.112_837_916_709_550_43,
    -0.376_126_389_031_837_54,
    0.128_379_167_095_512_6,
];

/// The binary logarithm of 1 - erf(x) from [`NEAR`] to [`ONE`], the nearer to one the less exact.
const LOG_OF_REST: [f64; 21] = [
    2.160_582_801_348_687_3e-14,
    -1.268_708_750_142_606_7e-12,
    3.509_039_729_955_828_4e-11,
    -6.080_098_795_402_841e-10,
    7.402_121_614_781_383e-9,
    -6.727_070_555_982_953e-8,
    4.727_594_520_751_942e-7,
    -2.620_705_483_650_519_4e-6,
    1.154_025_435_761_826_9e-5,
    -4.001_162_320_655_862e-5,
    0.000_104_987_648_687_145_9,
    -0.000_181_737_647_692_516_3,
    6.564_140_460_833_18e-5,
    0.000_754_357_631_041_329_3,
    -0.002_373_589_929_472_967_5,
    0.000_257_685_520_948_315_26,
    0.027_616_972_620_435_25,
    -0.148_276_580_129_378_4,
    -0.918_446_488_633_453_2,
    -1.627_907_283_323_215_3,
    1.781_352_355_690_575e-8,
];

/// Error function, within 1 ulp and never above one. Near zero `x + x P(x^2)`, beyond `1 - 2^Q(|x|)`.
pub(in super::super::super) fn erf<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let (magnitude, square) = (a.abs(x), a.mul(x, x));
    let p = a.series(square, &OF_SQUARE);
    let near = a.fma(p, x, x);

    let limited = clamp(a, magnitude, NEAR, ONE);
    let q = a.series(limited, &LOG_OF_REST);
    let [n, shifted] = nearest(a, q, 1023.0);
    let fraction = a.sub(q, n);
    let p = exp2_of_fraction(a, fraction);
    let bits = a.bits(shifted);
    let (power, one, zero) = (power_of_two(a, bits), a.f(1.0), a.f(0.0));
    let negative = a.sub(zero, p);
    let far = a.fma(negative, power, one);
    near_or_far(a, (x, magnitude), near, far, NEAR)
}
