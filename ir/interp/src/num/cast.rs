//! Conversions between types.

use sutura_ir::float::{ToPower, from_f64, power_of_two, to_f64};
use sutura_ir::types::FloatKind;

use super::{LaneFault, LaneResult, NumOp, Rounding, map1, poison, try_map1};
use crate::error::{Fault, FaultKind};
use crate::scalar::{DType, decode};

/// Evaluates the cast `op` from type `from` to type `to` on lanes.
pub(super) fn eval(op: NumOp, from: DType, to: DType, a: &[u64], out: &mut [u64]) -> LaneResult {
    use NumOp::*;
    let width = from.bits();
    let u = move |x: u64| x & from.mask();
    let s = move |x: u64| ((x << (64 - width)) as i64) >> (64 - width);
    match (op, from, to) {
        (ExtSI | IndexCast, ..) => map1(a, out, |x| to.wrap(s(x) as u64)),
        (ExtUI | IndexCastUI | Bitcast, ..) => map1(a, out, |x| to.wrap(u(x))),
        (TruncI(flags), ..) => try_map1(a, out, |x| {
            let wrapped = to.wrap(x);
            let back = ((wrapped << (64 - to.bits())) as i64) >> (64 - to.bits());
            if (flags.nsw && back != s(x)) || (flags.nuw && wrapped & to.mask() != u(x)) {
                return Err(Fault::new(FaultKind::Overflow, "truncation loses bits despite its flag"));
            }
            Ok(wrapped)
        }),
        (SIToFP, _, DType::Float(FloatKind::F32)) => map1(a, out, |x| (s(x) as f32).to_bits().into()),
        (UIToFP, _, DType::Float(FloatKind::F32)) => map1(a, out, |x| (u(x) as f32).to_bits().into()),
        (SIToFP, _, DType::Float(FloatKind::F64)) => map1(a, out, |x| (s(x) as f64).to_bits()),
        (UIToFP, _, DType::Float(FloatKind::F64)) => map1(a, out, |x| (u(x) as f64).to_bits()),
        (SIToFP, _, DType::Float(kind)) => map1(a, out, |x| {
            let magnitude = to_odd_f64(s(x).unsigned_abs());
            from_f64(kind, if s(x) < 0 { -magnitude } else { magnitude })
        }),
        (UIToFP, _, DType::Float(kind)) => map1(a, out, |x| from_f64(kind, to_odd_f64(u(x)))),
        (FPToSI, DType::Float(kind), _) => try_map1(a, out, |x| {
            let half = 2f64.powi(to.bits() as i32 - 1);
            to_int(kind, x, -half, half).map(|v| to.wrap(v as i64 as u64))
        }),
        (FPToUI, DType::Float(kind), _) => {
            try_map1(a, out, |x| to_int(kind, x, 0.0, 2f64.powi(to.bits() as i32)).map(|v| to.wrap(v as u64)))
        }
        (ExtF | TruncF(Rounding::ToNearestEven), DType::Float(from), DType::Float(to)) => {
            map1(a, out, |x| from_f64(to, decode(from, x)))
        }
        (TruncF(rounding), DType::Float(from), DType::Float(to)) => {
            map1(a, out, |x| round_directed(to, decode(from, x), rounding))
        }
        _ => {
            let fault = Fault::type_mismatch(format!("{op:?} has no meaning for {from} to {to}"));
            Err(LaneFault { lane: 0, fault })
        }
    }
}

/// Truncates toward zero; undefined unless the result lies in `[low, high)`.
fn to_int(kind: FloatKind, bits: u64, low: f64, high: f64) -> Result<f64, Fault> {
    let value = decode(kind, bits);
    let whole = value.trunc();
    if whole >= low && whole < high { Ok(whole) } else { Err(poison(format!("{value} does not fit the integer type"))) }
}

/// The integer in `f64` rounded to odd: what lies below the 53 bits leaves a trace in the last of them, so that one
/// more rounding, to a narrower format, comes out as from the exact value.
fn to_odd_f64(value: u64) -> f64 {
    let extra = 11u32.saturating_sub(value.leading_zeros());
    let kept = value >> extra;
    let sticky = u64::from(value & ((1 << extra) - 1) != 0);
    (kept | sticky) as f64 * 2f64.powi(extra as i32)
}

/// Rounds to a format in another way than to nearest even.
fn round_directed(kind: FloatKind, value: f64, rounding: Rounding) -> u64 {
    if kind == FloatKind::F8E8M0FNU {
        let how = match rounding {
            Rounding::ToNearestEven | Rounding::ToNearestAway => ToPower::Nearest,
            Rounding::Downward | Rounding::TowardZero => ToPower::Down,
            Rounding::Upward => ToPower::Up,
        };
        return power_of_two(value, how);
    }
    let nearest = from_f64(kind, value);
    let got = to_f64(kind, nearest);
    // Infinite operands stay; overflow of finite ones is settled below like any other inexact result.
    if value.is_nan() || got == value || (value.is_infinite() && got.is_infinite()) {
        return nearest;
    }
    let up = match rounding {
        Rounding::ToNearestEven => return nearest,
        Rounding::Downward => false,
        Rounding::Upward => true,
        Rounding::TowardZero => value < 0.0,
        Rounding::ToNearestAway => return nearest_away(kind, value, nearest, got),
    };
    match (up, got > value) {
        (true, false) => neighbour(kind, nearest, true),
        (false, true) => neighbour(kind, nearest, false),
        _ => nearest,
    }
}

/// Nearest, ties away from zero.
fn nearest_away(kind: FloatKind, value: f64, nearest: u64, got: f64) -> u64 {
    if got.abs() >= value.abs() || !got.is_finite() {
        return nearest;
    }
    let outer = neighbour(kind, nearest, value > 0.0);
    let next = to_f64(kind, outer);
    // Exact: both differences of neighbouring numbers of a narrower format fit `f64`.
    if next.is_finite() && (next - value).abs() <= (value - got).abs() { outer } else { nearest }
}

/// The next code above or below in value; the codes of a sign-magnitude format count outward from zero.
fn neighbour(kind: FloatKind, code: u64, up: bool) -> u64 {
    let sign = 1u64 << (kind.bits() - 1);
    let magnitude = code & (sign - 1);
    match (code & sign != 0, up) {
        (false, true) => code + 1,
        (true, false) => code + 1,
        (false, false) if magnitude == 0 => sign | 1,
        (true, true) if magnitude == 0 => 1,
        _ => code - 1,
    }
}
