//! The expansions. Each says its largest error in units in the last place (ulp) of the result, which tests hold it to on a
//! dense sample and, when asked, on every 32-bit float (`tests/exhaustive.rs`); a result that is right rounded is within 0.5.

mod exponential;
mod hyperbolic;
mod logarithm;
mod power;
mod root;
mod trigonometric;

use super::arith::{Arith, Cmp};

pub(super) use exponential::{exp, exp2, expm1};
pub(super) use hyperbolic::{erf, tanh};
pub(super) use logarithm::{log, log1p, log2, log10};
pub(super) use power::pow;
pub(super) use root::{cbrt, round, rsqrt};
pub(super) use trigonometric::{cos, sin, tan};

/// `x` where its magnitude is below `limit`, and `result` elsewhere.
fn identity_near_zero<A: Arith>(a: &mut A, x: A::V, limit: f32, result: A::V) -> A::V {
    let (magnitude, limit) = (a.abs(x), a.f(limit));
    let near = a.cmp(Cmp::Olt, magnitude, limit);
    a.select(near, x, result)
}
