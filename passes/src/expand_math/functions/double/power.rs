//! Powers of doubles with any exponent.

use super::super::super::arith::{Arith, Cmp};
use super::super::exponential::scale;
use super::super::power::{ends, signed};
use super::exponential::exp2_of_sum;
use super::logarithm::split;
use super::{Pair, clamp, nearest, product, sum_of_sorted};

/// (atanh(s) / s - 1 - s^2 / 3 - s^4 / 5) / s^6 of s^2, for s in [-1/5, 1/5].
const TAIL: [f64; 9] = [
    0.053_743_534_878_557_264,
    0.046_571_343_511_266_045,
    0.052_690_859_257_007_32,
    0.058_821_464_404_414_936,
    0.066_666_712_530_568_94,
    0.076_923_076_276_836_35,
    0.090_909_090_914_618_68,
    0.111_111_111_111_085_35,
    0.142_857_142_857_142_9,
];

const FIFTH: [f64; 2] = [0.2, -1.110_223_024_625_156_6e-17];
const THIRD: [f64; 2] = [1.0 / 3.0, 1.850_371_707_708_594e-17];

/// 2 / ln 2.
const TWICE_LOG2_E: [f64; 2] = [2.0 * std::f64::consts::LOG2_E, 4.071_054_748_186_206_6e-17];

/// The binary logarithm of a positive finite `x`, to about 100 bits.
fn log2<A: Arith>(a: &mut A, x: A::V) -> Pair<A::V> {
    let [r, e] = split(a, x);
    let two = a.f(2.0);
    let under = sum_of_sorted(a, two, r);
    // s = r / (2 + r), and what is missing to it.
    let high = a.div(r, under.high);
    let taken = product(a, high, under.high);
    let missing = a.sub(r, taken.high);
    let missing = a.sub(missing, taken.low);
    let of_low = a.mul(high, under.low);
    let missing = a.sub(missing, of_low);
    let low = a.div(missing, under.high);
    let s = sum_of_sorted(a, high, low);
    let square = s.times(a, s);
    let tail = a.series(square.high, &TAIL);
    let (fifth, third) = (Pair::constant(a, FIFTH), Pair::constant(a, THIRD));
    let series = square.times_number(a, tail).plus_larger_pair(a, fifth);
    let series = square.times(a, series).plus_larger_pair(a, third);
    let one = a.f(1.0);
    let series = square.times(a, series).plus_larger(a, one);
    let factor = Pair::constant(a, TWICE_LOG2_E);
    s.times(a, series).times(a, factor).plus_larger(a, e)
}

/// x^y, within 1 ulp, with all the special cases of IEEE 754's `pow`: the logarithm and its product with `y` are sums of two
/// doubles, for an error there is multiplied by up to 1075.
pub(in super::super::super) fn pow<A: Arith>(a: &mut A, x: A::V, y: A::V) -> A::V {
    let magnitude = a.abs(x);
    let Pair { high, low } = log2(a, magnitude);
    let (zero, infinity, least) = (a.f(0.0), a.f(f32::INFINITY), a.f(f32::NEG_INFINITY));
    let is_zero = a.cmp(Cmp::Oeq, x, zero);
    let finite = a.cmp(Cmp::Olt, magnitude, infinity);
    let high = a.select(finite, high, magnitude);
    let high = a.select(is_zero, least, high);
    // With a finite exponent the power of one is one, and all others with an infinite one are far out of range.
    let limited = clamp(a, y, -f64::MAX, f64::MAX);
    let t = a.mul(high, limited);
    let negative = a.sub(zero, t);
    let lost = a.fma(high, limited, negative);
    let lost = a.fma(low, limited, lost);
    // Beyond, and where x is zero or infinite, what is lost says nothing.
    let (far, size) = (a.f(1100.0), a.abs(t));
    let in_range = a.cmp(Cmp::Olt, size, far);
    let lost = a.select(in_range, lost, zero);
    let t = clamp(a, t, -1100.0, 1100.0);
    let [n, shifted] = nearest(a, t, 2046.0);
    let fraction = a.sub(t, n);
    let p = exp2_of_sum(a, fraction, lost);
    let result = scale(a, p, shifted);
    let result = signed(a, x, y, result);
    ends(a, x, y, result)
}
