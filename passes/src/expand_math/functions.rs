//! The expansions, all on 32-bit floats. Each states its largest error as the tests of this folder measure it.

use super::builder::{Arith, Cmp, Int};

/// Adding this to a float of magnitude below 2^22 rounds it to an integer, which then stands in the low bits.
const ROUND: f32 = 12_582_912.0;

/// `p * 2^n` for an integral float `n` given as `n + ROUND`, in two steps, so that results may be denormal or infinite.
fn scale<A: Arith>(a: &mut A, p: A::V, shifted: A::V) -> A::V {
    let (bits, base) = (a.bits(shifted), a.i(ROUND.to_bits() as i32));
    let n = a.int(Int::Sub, bits, base);
    let one = a.i(1);
    let half = a.int(Int::ShrS, n, one);
    let rest = a.int(Int::Sub, n, half);
    let mut result = p;
    for exponent in [half, rest] {
        let (bias, width) = (a.i(127), a.i(23));
        let biased = a.int(Int::Add, exponent, bias);
        let bits = a.int(Int::Shl, biased, width);
        let power = a.of_bits(bits);
        result = a.mul(result, power);
    }
    result
}

/// `e^r` for `|r|` up to `ln(2)/2`: 1 + r + r^2 P(r).
fn exp_reduced<A: Arith>(a: &mut A, r: A::V) -> A::V {
    let p = a.polynomial(r, &[1.987_569_1e-4, 1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 5e-1]);
    let square = a.mul(r, r);
    let tail = a.fma(p, square, r);
    let one = a.f(1.0);
    a.add(tail, one)
}

/// e^x, within 1 unit in the last place. Reduction by multiples of ln 2 in two parts.
pub(super) fn exp<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let x = a.clamp(x, -105.0, 89.0);
    let (log2e, round) = (a.f(std::f32::consts::LOG2_E), a.f(ROUND));
    let shifted = a.fma(x, log2e, round);
    let n = a.sub(shifted, round);
    let (high, low) = (a.f(-0.693_359_4), a.f(2.121_944_4e-4));
    let r = a.fma(n, high, x);
    let r = a.fma(n, low, r);
    let p = exp_reduced(a, r);
    scale(a, p, shifted)
}

/// 2^x, within 2 units in the last place.
pub(super) fn exp2<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let x = a.clamp(x, -151.0, 129.0);
    let round = a.f(ROUND);
    let shifted = a.add(x, round);
    let n = a.sub(shifted, round);
    let fraction = a.sub(x, n);
    let ln2 = a.f(std::f32::consts::LN_2);
    let r = a.mul(fraction, ln2);
    let p = exp_reduced(a, r);
    scale(a, p, shifted)
}

/// Natural logarithm, within 1 unit in the last place; -inf at zero, NaN below.
pub(super) fn log<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let (tiny, two23) = (a.f(f32::MIN_POSITIVE), a.f(8_388_608.0));
    let denormal = a.cmp(Cmp::Olt, x, tiny);
    let scaled = a.mul(x, two23);
    let normal = a.select(denormal, scaled, x);
    // Mantissa in [sqrt(1/2), sqrt(2)) and the exponent that goes with it.
    let (bits, offset) = (a.bits(normal), a.i(0x3f35_04f3));
    let distance = a.int(Int::Sub, bits, offset);
    let width = a.i(23);
    let exponent = a.int(Int::ShrS, distance, width);
    let shifted = a.int(Int::Shl, exponent, width);
    let mantissa = a.int(Int::Sub, bits, shifted);
    let m = a.of_bits(mantissa);
    let (less, none) = (a.i(-23), a.i(0));
    let correction = a.select(denormal, less, none);
    let exponent = a.int(Int::Add, exponent, correction);
    let e = a.to_float(exponent);
    let one = a.f(1.0);
    let r = a.sub(m, one);
    let square = a.mul(r, r);
    let p = a.polynomial(
        r,
        &[
            7.037_683_6e-2,
            -1.151_461e-1,
            1.167_699_9e-1,
            -1.242_014_1e-1,
            1.424_932_3e-1,
            -1.666_805_8e-1,
            2.000_071_5e-1,
            -2.499_999_4e-1,
            3.333_333e-1,
        ],
    );
    let cube = a.mul(square, r);
    let mut tail = a.mul(cube, p);
    let low = a.f(-2.121_944_4e-4);
    tail = a.fma(e, low, tail);
    let minus_half = a.f(-0.5);
    tail = a.fma(square, minus_half, tail);
    let sum = a.add(r, tail);
    let high = a.f(0.693_359_4);
    let result = a.fma(e, high, sum);
    log_edges(a, x, result)
}

fn log_edges<A: Arith>(a: &mut A, x: A::V, result: A::V) -> A::V {
    let (zero, infinity, nan) = (a.f(0.0), a.f(f32::INFINITY), a.f(f32::NAN));
    let is_infinite = a.cmp(Cmp::Oeq, x, infinity);
    let result = a.select(is_infinite, infinity, result);
    let below = a.cmp(Cmp::Olt, x, zero);
    let result = a.select(below, nan, result);
    let is_zero = a.cmp(Cmp::Oeq, x, zero);
    let minus_infinity = a.f(f32::NEG_INFINITY);
    let result = a.select(is_zero, minus_infinity, result);
    let is_nan = a.cmp(Cmp::Uno, x, x);
    a.select(is_nan, x, result)
}

/// Hyperbolic tangent, within 5 units in the last place: an odd rational function up to where the result is one.
pub(super) fn tanh<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let limited = a.clamp(x, -7.905_311, 7.905_311);
    let square = a.mul(limited, limited);
    let p = a.polynomial(
        square,
        &[
            -2.760_768_5e-16,
            2.000_188e-13,
            -8.604_672e-11,
            5.122_297e-8,
            1.485_722_4e-5,
            6.372_619_3e-4,
            4.893_524_6e-3,
        ],
    );
    let p = a.mul(p, limited);
    let q = a.polynomial(square, &[1.198_258_4e-6, 1.185_347_1e-4, 2.268_434_6e-3, 4.893_525e-3]);
    let ratio = a.div(p, q);
    // Near zero the function is its argument, denormals included.
    let (magnitude, small) = (a.abs(x), a.f(4e-4));
    let tiny = a.cmp(Cmp::Olt, magnitude, small);
    a.select(tiny, x, ratio)
}

/// Error function, within 4e-7 of its value: an odd rational function up to where the result is one.
pub(super) fn erf<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let limited = a.clamp(x, -4.0, 4.0);
    let square = a.mul(limited, limited);
    let p = a.polynomial(
        square,
        &[
            -2.726_142_3e-10,
            2.770_681_4e-8,
            -2.101_024e-6,
            -5.692_506_4e-5,
            -7.349_906_3e-4,
            -2.954_6e-3,
            -1.609_603_3e-2,
        ],
    );
    let p = a.mul(p, limited);
    let q = a.polynomial(square, &[-1.456_607_2e-5, -2.133_740_6e-4, -1.682_827e-3, -7.373_329_2e-3, -1.426_473_9e-2]);
    let ratio = a.div(p, q);
    a.clamp(ratio, -1.0, 1.0)
}

/// One over the square root, both correctly rounded: within 1.5 units in the last place.
pub(super) fn rsqrt<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let root = a.sqrt(x);
    let one = a.f(1.0);
    a.div(one, root)
}

/// Nearest integer, ties away from zero. The largest float below one half, so that what is just below a tie stays.
pub(super) fn round<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let half = a.f(0.499_999_97);
    let half = a.copysign(half, x);
    let sum = a.add(x, half);
    a.trunc(sum)
}
