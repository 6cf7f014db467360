//! The expansions for doubles. As for 32-bit floats each says its largest error, which tests hold it to against numbers of 192
//! bits. Where a double has too few bits a sum of two holds what is computed ([`Pair`]).

mod exponential;
mod hyperbolic;
mod inverse;
mod logarithm;
mod power;
mod remainder;
mod root;
mod trigonometric;

use super::super::arith::{Arith, Cmp};
pub(in super::super) use super::root::{ceil, floor, round, roundeven, rsqrt, trunc};

pub(in super::super) use exponential::{exp, exp2, expm1};
pub(in super::super) use hyperbolic::{erf, tanh};
pub(in super::super) use inverse::{atan, atan2};
pub(in super::super) use logarithm::{log, log1p, log2, log10};
pub(in super::super) use power::pow;
pub(in super::super) use remainder::rem;
pub(in super::super) use root::cbrt;
pub(in super::super) use trigonometric::{cos, sin, tan};

/// Bits of the mantissa that are stored.
const MANTISSA: i32 = 52;

/// ln 2, and what is missing to it.
const LN_2: [f64; 2] = [std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17];

/// A number as a sum of two, of which the second is at most half of the first's last place.
#[derive(Clone, Copy)]
struct Pair<V> {
    high: V,
    low: V,
}

/// The sum of two numbers without error, where the first is zero or not smaller than the second.
fn sum_of_sorted<A: Arith>(a: &mut A, x: A::V, y: A::V) -> Pair<A::V> {
    let high = a.add(x, y);
    let part = a.sub(high, x);
    Pair { high, low: a.sub(y, part) }
}

/// The sum of two numbers without error.
fn sum<A: Arith>(a: &mut A, x: A::V, y: A::V) -> Pair<A::V> {
    let high = a.add(x, y);
    let of_y = a.sub(high, x);
    let of_x = a.sub(high, of_y);
    let (rest_y, rest_x) = (a.sub(y, of_y), a.sub(x, of_x));
    Pair { high, low: a.add(rest_x, rest_y) }
}

/// The product of two numbers without error.
fn product<A: Arith>(a: &mut A, x: A::V, y: A::V) -> Pair<A::V> {
    let high = a.mul(x, y);
    let zero = a.f(0.0);
    let negative = a.sub(zero, high);
    Pair { high, low: a.fma(x, y, negative) }
}

impl<V: Copy> Pair<V> {
    fn constant<A: Arith<V = V>>(a: &mut A, [high, low]: [f64; 2]) -> Self {
        Self { high: a.c(high), low: a.c(low) }
    }

    /// The product with another, to twice the bits of a number less a few.
    fn times<A: Arith<V = V>>(self, a: &mut A, other: Self) -> Self {
        let Self { high, low } = product(a, self.high, other.high);
        let low = a.fma(self.high, other.low, low);
        let low = a.fma(self.low, other.high, low);
        sum_of_sorted(a, high, low)
    }

    /// The product with a number.
    fn times_number<A: Arith<V = V>>(self, a: &mut A, number: V) -> Self {
        let Self { high, low } = product(a, self.high, number);
        let low = a.fma(self.low, number, low);
        sum_of_sorted(a, high, low)
    }

    /// The sum with a number that is zero or not smaller.
    fn plus_larger<A: Arith<V = V>>(self, a: &mut A, number: V) -> Self {
        let Self { high, low } = sum_of_sorted(a, number, self.high);
        let low = a.add(low, self.low);
        sum_of_sorted(a, high, low)
    }

    /// The sum with a pair that is not smaller.
    fn plus_larger_pair<A: Arith<V = V>>(self, a: &mut A, other: Self) -> Self {
        let Self { high, low } = sum_of_sorted(a, other.high, self.high);
        let rest = a.add(other.low, self.low);
        let low = a.add(low, rest);
        sum_of_sorted(a, high, low)
    }
}

/// `a` limited to `[low, high]`; NaN stays NaN.
fn clamp<A: Arith>(a: &mut A, x: A::V, low: f64, high: f64) -> A::V {
    let (low, high) = (a.c(low), a.c(high));
    let below = a.cmp(Cmp::Olt, x, low);
    let x = a.select(below, low, x);
    let above = a.cmp(Cmp::Olt, high, x);
    a.select(above, high, x)
}

/// Adding this to a double of magnitude below 2^51 rounds it to an integer, which then stands in the low bits.
pub(super) const ROUND: f64 = 6_755_399_441_055_744.0;

/// The integer nearest to `x`, and it plus [`ROUND`] and `plus`.
fn nearest<A: Arith>(a: &mut A, x: A::V, plus: f64) -> [A::V; 2] {
    let round = a.c(ROUND + plus);
    let shifted = a.add(x, round);
    [a.sub(shifted, round), shifted]
}
