//! Floating-point arithmetic, comparisons and tests.

use sutura_ir::float::from_f64;
use sutura_ir::types::FloatKind;

use super::int::bool_bits;
use super::{LaneFault, LaneResult, NumOp, map1, map2, map3};
use crate::error::Fault;
use crate::scalar::{DType, decode};

/// The larger of two numbers, of which neither is NaN; +0 is larger than -0.
macro_rules! max {
    ($a:expr, $b:expr) => {
        if $a > $b || ($a == $b && $a.is_sign_positive()) { $a } else { $b }
    };
}
/// The smaller of two numbers, of which neither is NaN; -0 is smaller than +0.
macro_rules! min {
    ($a:expr, $b:expr) => {
        if $a < $b || ($a == $b && $a.is_sign_negative()) { $a } else { $b }
    };
}

/// A format's bits as `f32`, in which narrow formats compute.
fn to_f32(kind: FloatKind, bits: u64) -> f32 {
    decode(kind, bits) as f32
}

fn of_f32(kind: FloatKind, value: f32) -> u64 {
    from_f64(kind, value.into())
}

/// Runs one expression in `f32`, in `f64`, or for narrow formats in `f32` with one rounding after.
macro_rules! arith {
    ($map:ident, $kind:expr, $args:expr, $out:expr, |$($x:ident),+| $body:expr) => {
        match $kind {
            FloatKind::F32 => $map($args, $out, |$($x),+| {
                $(let $x = f32::from_bits($x as u32);)+
                u64::from(f32::to_bits($body))
            }),
            FloatKind::F64 => $map($args, $out, |$($x),+| {
                $(let $x = f64::from_bits($x);)+
                f64::to_bits($body)
            }),
            kind => $map($args, $out, |$($x),+| {
                $(let $x = to_f32(kind, $x);)+
                of_f32(kind, $body)
            }),
        }
    };
}

/// Evaluates `op` on lanes of format `kind`; `second` is the type of the second operand.
pub(super) fn eval(op: NumOp, kind: FloatKind, second: Option<DType>, args: &[&[u64]], out: &mut [u64]) -> LaneResult {
    use NumOp::*;
    let value = move |bits: u64| decode(kind, bits);
    match op {
        AddF => arith!(map2, kind, args, out, |a, b| a + b),
        SubF => arith!(map2, kind, args, out, |a, b| a - b),
        MulF => arith!(map2, kind, args, out, |a, b| a * b),
        DivF => arith!(map2, kind, args, out, |a, b| a / b),
        RemF => arith!(map2, kind, args, out, |a, b| a % b),
        MaximumF => arith!(map2, kind, args, out, |a, b| if a.is_nan() || b.is_nan() { a + b } else { max!(a, b) }),
        MinimumF => arith!(map2, kind, args, out, |a, b| if a.is_nan() || b.is_nan() { a + b } else { min!(a, b) }),
        MaxNumF => arith!(map2, kind, args, out, |a, b| if a.is_nan() {
            b
        } else if b.is_nan() {
            a
        } else {
            max!(a, b)
        }),
        MinNumF => arith!(map2, kind, args, out, |a, b| if a.is_nan() {
            b
        } else if b.is_nan() {
            a
        } else {
            min!(a, b)
        }),
        Fma => arith!(map3, kind, args, out, |a, b, c| a.mul_add(b, c)),
        ClampF => arith!(map3, kind, args, out, |x, low, high| {
            if x.is_nan() || low.is_nan() || high.is_nan() {
                x + low + high
            } else {
                let raised = max!(x, low);
                min!(raised, high)
            }
        }),
        // What is less than zero is no number there.
        NegF if kind == FloatKind::F8E8M0FNU => map1(args[0], out, |_| from_f64(kind, f64::NAN)),
        // Sign operations are on bits, so that NaNs keep theirs.
        NegF => map1(args[0], out, |a| with_sign(kind, a, a & sign_bit(kind) == 0)),
        Math(super::MathFn::AbsF) => map1(args[0], out, |a| with_sign(kind, a, false)),
        CopySign => map2(args, out, |a, b| with_sign(kind, a, b & sign_bit(kind) != 0)),
        CmpF(predicate) => map2(args, out, |a, b| bool_bits(predicate.holds(value(a), value(b)))),
        IsFinite => map1(args[0], out, |a| bool_bits(value(a).is_finite())),
        IsInf => map1(args[0], out, |a| bool_bits(value(a).is_infinite())),
        IsNan => map1(args[0], out, |a| bool_bits(value(a).is_nan())),
        IsNormal => map1(args[0], out, |a| bool_bits(is_normal(kind, value(a)))),
        Math(function) => {
            let f = function.function();
            map1(args[0], out, |a| from_f64(kind, f(value(a))))
        }
        Atan2 => map2(args, out, |a, b| from_f64(kind, libm::atan2(value(a), value(b)))),
        PowF => map2(args, out, |a, b| from_f64(kind, libm::pow(value(a), value(b)))),
        FPowI => {
            let wide = second.unwrap_or(DType::I32);
            map2(args, out, |a, b| {
                let exponent = crate::scalar::Scalar::from_bits(wide, b).to_f64_lossy();
                from_f64(kind, libm::pow(value(a), exponent))
            })
        }
        _ => {
            let fault = Fault::type_mismatch(format!("{op:?} has no meaning for {}", kind.keyword()));
            Err(LaneFault { lane: 0, fault })
        }
    }
}

fn sign_bit(kind: FloatKind) -> u64 {
    match kind {
        // All its values are positive.
        FloatKind::F8E8M0FNU => 0,
        _ => 1 << (kind.bits() - 1),
    }
}

/// The number with a sign. Formats without a negative zero have NaN in its place: there neither zero nor NaN changes.
fn with_sign(kind: FloatKind, bits: u64, negative: bool) -> u64 {
    let sign = sign_bit(kind);
    let magnitude = bits & !sign;
    if magnitude == 0 && decode(kind, sign).is_nan() {
        return bits;
    }
    magnitude | if negative { sign } else { 0 }
}

/// Smallest positive normal number of a format.
fn min_normal(kind: FloatKind) -> f64 {
    use FloatKind::*;
    let exponent = match kind {
        F4E2M1FN | F6E2M3FN => 0,
        F6E3M2FN | F8E3M4 => -2,
        F8E5M2 | F16 => -14,
        F8E4M3 | F8E4M3FN => -6,
        F8E5M2FNUZ => -15,
        F8E4M3FNUZ => -7,
        F8E4M3B11FNUZ => -10,
        F8E8M0FNU => -127,
        BF16 | TF32 | F32 => -126,
        F64 | F80 | F128 => -1022,
    };
    2f64.powi(exponent)
}

fn is_normal(kind: FloatKind, value: f64) -> bool {
    value.is_finite() && value.abs() >= min_normal(kind)
}
