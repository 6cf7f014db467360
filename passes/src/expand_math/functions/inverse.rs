//! Angles: the arctangent of a number and of a quotient.

use super::super::arith::{Arith, Cmp};

/// (atan q - q) / q^3 of q^2, for q in [0, 1], and what a half turn and a quarter of one lose when they are rounded.
pub(super) struct Arc<'a> {
    pub(super) series: &'a [f64],
    pub(super) half_turn: f64,
    pub(super) quarter: f64,
}

const ARC: Arc<'static> = Arc {
    series: &[
        0.002_920_689_5,
        -0.016_367_916,
        0.043_211_84,
        -0.075_522_125,
        0.106_660_04,
        -0.142_110_56,
        0.199_937_73,
        -0.333_331_53,
    ],
    half_turn: -8.742_278e-8,
    quarter: -4.371_139e-8,
};

/// Arctangent, within 2.25 ulp.
pub(in super::super) fn atan<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let one = a.f(1.0);
    angle(a, x, one, &ARC)
}

/// The angle of the point `(x, y)`, within 2.25 ulp. At zeros and infinities it is what IEEE 754 says.
pub(in super::super) fn atan2<A: Arith>(a: &mut A, y: A::V, x: A::V) -> A::V {
    angle(a, y, x, &ARC)
}

/// Of the eighth of a turn in which the point lies the smaller coordinate over the larger tells the place; the others are its
/// mirror images.
pub(super) fn angle<A: Arith>(a: &mut A, y: A::V, x: A::V, arc: &Arc<'_>) -> A::V {
    let (height, width) = (a.abs(y), a.abs(x));
    let steep = a.cmp(Cmp::Olt, width, height);
    let (small, large) = (a.select(steep, width, height), a.select(steep, height, width));
    let slope = slope(a, small, large);
    let square = a.mul(slope, slope);
    let p = a.series(square, arc.series);
    let p = a.mul(p, square);
    let near = a.fma(p, slope, slope);
    let mirrored = less(a, [std::f64::consts::FRAC_PI_2, arc.quarter], near);
    let right = a.select(steep, mirrored, near);
    let behind = less(a, [std::f64::consts::PI, arc.half_turn], right);
    // Of a zero the sign counts.
    let (one, zero) = (a.f(1.0), a.f(0.0));
    let side = a.copysign(one, x);
    let is_behind = a.cmp(Cmp::Olt, side, zero);
    let angle = a.select(is_behind, behind, right);
    a.copysign(angle, y)
}

/// `small / large`; of two zeros 0, of two infinities 1.
fn slope<A: Arith>(a: &mut A, small: A::V, large: A::V) -> A::V {
    let (zero, one) = (a.f(0.0), a.f(1.0));
    let nothing = a.cmp(Cmp::Oeq, large, zero);
    let of_equal = a.select(nothing, zero, one);
    let equal = a.cmp(Cmp::Oeq, small, large);
    let slope = a.div(small, large);
    a.select(equal, of_equal, slope)
}

/// `x` taken from a number of which the second part is what the first lacks.
fn less<A: Arith>(a: &mut A, [high, low]: [f64; 2], x: A::V) -> A::V {
    let (high, low) = (a.c(high), a.c(low));
    let x = a.sub(x, low);
    a.sub(high, x)
}
