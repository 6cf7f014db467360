//! Errors of the expansions, against functions of doubles.

use super::super::functions as f;
use super::super::native::{compute, compute2};
use super::turn;

/// What negating the argument does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symmetry {
    Odd,
    Even,
    None,
}

/// The largest error found, and where.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Worst {
    pub(super) ulp: f64,
    pub(super) at: f32,
}

impl Worst {
    pub(super) fn max(self, other: Self) -> Self {
        if other.ulp > self.ulp { other } else { self }
    }
}

/// A function of one float with its expansion.
pub(super) struct Case {
    pub(super) name: &'static str,
    /// The bound that the function's documentation states, in ulp.
    pub(super) bound: f64,
    pub(super) expanded: fn(f32) -> f32,
    /// The error at a float.
    pub(super) at: fn(f32) -> Worst,
    /// The largest error on the floats with bits in `[from, to)`.
    pub(super) measure: fn(from: u64, to: u64) -> Worst,
}

/// Distance between neighbours of a 32-bit float's size, denormals included.
pub(super) fn ulp(exact: f64) -> f64 {
    let exponent = ((exact.to_bits() >> 52 & 0x7ff) as i32 - 1023).clamp(-126, 127);
    f64::from_bits(((exponent - 23 + 1023) as u64) << 52)
}

/// How far `got` is from `exact`, in ulp; infinite where one is NaN and not the other, or signs of zeros or infinities
/// differ. Infinity is as far as the next power of two.
pub(super) fn error(got: f32, exact: f64) -> f64 {
    if got.is_nan() || exact.is_nan() {
        return if got.is_nan() && exact.is_nan() { 0.0 } else { f64::INFINITY };
    }
    let top = f64::from_bits((1023 + 128) << 52);
    let (value, limited) = (f64::from(got).clamp(-top, top), exact.clamp(-top, top));
    if (got == 0.0 || got.is_infinite()) && got.is_sign_negative() != exact.is_sign_negative() {
        return f64::INFINITY;
    }
    if exact.is_infinite() && !got.is_infinite() {
        return f64::INFINITY;
    }
    (value - limited).abs() / ulp(exact)
}

#[inline(always)]
fn measure(symmetry: Symmetry, x: f32, expanded: impl Fn(f32) -> f32, exact: impl Fn(f64) -> f64) -> Worst {
    let got = expanded(x);
    let ulp = if x.is_sign_negative() && symmetry != Symmetry::None {
        // The double function is asked once for both.
        let mirrored = expanded(-x);
        let expected = if symmetry == Symmetry::Odd { -mirrored } else { mirrored };
        let same = expected.to_bits() == got.to_bits() || (expected.is_nan() && got.is_nan());
        if same { 0.0 } else { f64::INFINITY }
    } else {
        error(got, exact(x.into()))
    };
    Worst { ulp, at: x }
}

macro_rules! cases {
    ($($name:ident $bound:literal $symmetry:ident $exact:expr;)*) => {
        &[$({
            #[inline(always)]
            fn at(x: f32) -> Worst {
                measure(Symmetry::$symmetry, x, |x| compute(f::$name, x), $exact)
            }
            Case {
                name: stringify!($name),
                bound: $bound,
                expanded: |x| compute(f::$name, x),
                at,
                measure: |from, to| {
                    (from..to).fold(Worst::default(), |worst, bits| worst.max(at(f32::from_bits(bits as u32))))
                },
            }
        }),*]
    };
}

/// Below it the first terms of a series are right to more bits than a double function's.
const TINY: f64 = 1.0 / (1 << 28) as f64;

/// Below it the expansion of e^x is zero, as it states.
const EXP_VANISHES: f64 = -125.5 * std::f64::consts::LN_2;

/// What the expansions of e^x come close to.
pub(super) fn exp(x: f64) -> f64 {
    if x < EXP_VANISHES { 0.0 } else { x.exp() }
}

/// All functions of one float.
pub(super) static CASES: &[Case] = cases! {
    exp 1.0 None exp;
    exp2 1.0 None f64::exp2;
    expm1 1.75 None |x| if x.abs() < TINY { x * (1.0 + x / 2.0) } else { x.exp_m1() };
    log 1.0 None |x| x.ln();
    log2 1.5 None f64::log2;
    log10 1.5 None f64::log10;
    log1p 1.75 None |x| if x.abs() < TINY { x * (1.0 - x / 2.0) } else { x.ln_1p() };
    tanh 5.5 Odd |x| if x.abs() < TINY { x } else { x.tanh() };
    erf 2.05 Odd |x| if x.abs() < TINY { x * std::f64::consts::FRAC_2_SQRT_PI } else { libm::erf(x) };
    sin 3.0 Odd turn::sin;
    cos 3.0 Even turn::cos;
    tan 4.25 Odd turn::tan;
    atan 2.25 Odd f64::atan;
    rsqrt 1.5 None |x| 1.0 / x.sqrt();
    cbrt 0.51 Odd f64::cbrt;
    round 0.0 Odd f64::round;
    roundeven 0.0 Odd f64::round_ties_even;
    trunc 0.0 Odd f64::trunc;
    floor 0.0 None f64::floor;
    ceil 0.0 None f64::ceil;
};

pub(super) fn pow(x: f32, y: f32) -> f32 {
    compute2(f::pow, x, y)
}
