//! The expansions. Each says its largest error in units in the last place (ulp) of the result, which tests hold it to on a
//! dense sample and, when asked, on every 32-bit float (`tests/exhaustive.rs`); a result that is right rounded is within 0.5.

pub(super) mod double;
mod exponential;
mod hyperbolic;
mod inverse;
mod logarithm;
mod power;
mod remainder;
mod root;
mod trigonometric;

use super::arith::{Arith, Cmp, Int};

pub(super) use exponential::{exp, exp_nonpositive, exp2, expm1};
pub(super) use hyperbolic::{erf, tanh};
pub(super) use inverse::{atan, atan2};
pub(super) use logarithm::{log, log1p, log2, log10};
pub(super) use power::pow;
pub(super) use remainder::rem;
pub(super) use root::{cbrt, ceil, floor, round, roundeven, rsqrt, trunc};
pub(super) use trigonometric::{cos, sin, tan};

/// `x` where its magnitude is below `limit`, and `result` elsewhere.
fn identity_near_zero<A: Arith>(a: &mut A, x: A::V, limit: f64, result: A::V) -> A::V {
    let (magnitude, limit) = (a.abs(x), a.c(limit));
    let near = a.cmp(Cmp::Olt, magnitude, limit);
    a.select(near, x, result)
}

/// The power of two whose exponent with its bias stands in the low bits; what stands above is shifted out.
fn power_of_two<A: Arith>(a: &mut A, biased: A::V) -> A::V {
    let mantissa = a.digits() - 1;
    let bits = a.int_with(Int::Shl, biased, mantissa as i32);
    a.of_bits(bits)
}

/// The integer nearest to `x`, which is not negative, by additions: not every machine has an instruction for it.
fn nearest_integer<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let whole = a.whole();
    let sum = a.add(x, whole);
    let nearest = a.sub(sum, whole);
    // From there on floats are integers.
    let has_fraction = a.cmp(Cmp::Olt, x, whole);
    a.select(has_fraction, nearest, x)
}
