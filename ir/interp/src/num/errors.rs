//! How far a compiled result may lie from the interpreted one: bounds of rounding errors, op by op.
//!
//! A number has an error that bounds how far it may be from what exact arithmetic on the program's inputs gives, to first order
//! (running error analysis: Wilkinson; Higham, "Accuracy and Stability of Numerical Algorithms", 3.3). Each op passes errors of its
//! operands on by its derivative, and adds its own rounding.

use sutura_ir::float;
use sutura_ir::types::FloatKind;

use super::{Kernel, MathFn, NumOp};
use crate::scalar::DType;

/// Units in the last place that compiled functions of `math` are within, with room: the worst is within 3.
const FUNCTION_ULPS: f64 = 4.0;

/// How a type rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Roundoff {
    /// Largest relative error of one rounding.
    pub unit: f64,
    /// The smallest number above zero.
    pub tiny: f64,
    /// Largest relative error of a function of `math`: narrow floats are computed in `f32` and rounded once.
    pub function: f64,
}

/// How a type rounds; integers do not.
pub fn rounding(dtype: DType) -> Roundoff {
    const F32_UNIT: f64 = 1.0 / (1u64 << 24) as f64;
    let DType::Float(kind) = dtype.part().unwrap_or(dtype) else { return Roundoff::default() };
    if kind == FloatKind::F64 {
        let unit = f64::EPSILON / 2.0;
        return Roundoff { unit, tiny: f64::from_bits(1), function: 2.0 * FUNCTION_ULPS * unit };
    }
    let next = float::to_f64(kind, float::from_f64(kind, 1.0) + 1) - 1.0;
    let (unit, tiny) = (next.abs() / 2.0, float::to_f64(kind, 1).abs());
    let own = if kind == FloatKind::F32 { 0.0 } else { unit };
    Roundoff { unit, tiny, function: own + 2.0 * FUNCTION_ULPS * F32_UNIT }
}

impl Kernel {
    pub(crate) fn is_comparison(&self) -> bool {
        matches!(self.op, NumOp::CmpF(_) | NumOp::CmpI(_))
    }

    /// The error of the result `r` of operands with errors.
    pub(crate) fn error(&self, a: [f64; 3], e: [f64; 3], r: f64, rounding: Roundoff) -> f64 {
        let exact = e.iter().take(self.operands.len()).all(|e| *e == 0.0);
        // Infinity or NaN of exact operands is what everybody computes.
        if exact && !r.is_finite() {
            return 0.0;
        }
        let error = match self.result.is_float() || self.operands[0].is_float() {
            true => self.float_error(a, e, r, rounding),
            false => self.integer_error(a, e, exact),
        };
        if error.is_nan() { f64::INFINITY } else { error }
    }

    fn float_error(&self, a: [f64; 3], e: [f64; 3], r: f64, rounding: Roundoff) -> f64 {
        use NumOp::*;
        let [x, y, _] = a;
        let [ex, ey, ez] = e;
        let Roundoff { unit, tiny, function } = rounding;
        let (rounded, computed) = (unit * r.abs(), function * r.abs());
        match self.op {
            AddF | SubF => ex + ey + rounded,
            MulF => x.abs() * ey + y.abs() * ex + ex * ey + rounded + tiny,
            DivF if ey > 0.0 && y.abs() <= ey => f64::INFINITY,
            DivF if ex == 0.0 && ey == 0.0 => rounded + tiny,
            DivF => (ex + r.abs() * ey) / (y.abs() - ey) + rounded + tiny,
            Fma => x.abs() * ey + y.abs() * ex + ex * ey + ez + unit * (x * y).abs() + rounded + tiny,
            NegF | CopySign | ExtF => ex,
            MaximumF | MinimumF | MaxNumF | MinNumF => ex.max(ey),
            ClampF => ex.max(ey).max(ez),
            CmpF(_) => uncertain(x, y, ex + ey),
            IsFinite | IsInf | IsNan | IsNormal => f64::from(u8::from(ex > 0.0 && !ex.is_finite())),
            Select => selected(a, e),
            TruncF(_) => ex + rounded + tiny,
            SIToFP | UIToFP => ex + if unit * x.abs() < 0.5 { 0.0 } else { rounded },
            FPToSI | FPToUI if ex == 0.0 => 0.0,
            FPToSI | FPToUI => ((x + ex).trunc() - (x - ex).trunc()).abs(),
            Math(MathFn::AbsF) => ex,
            Math(f) => {
                let far = moved(&|x, _| f.function()(x), f, (x, 0.0), (ex, 0.0), r);
                match f {
                    MathFn::Ceil | MathFn::Floor | MathFn::Round | MathFn::RoundEven | MathFn::Trunc => far,
                    MathFn::Sqrt => far + rounded + tiny,
                    _ => far + computed + tiny,
                }
            }
            PowF => corners(&f64::powf, (x, y), (ex, ey), r) + computed + tiny,
            Atan2 => corners(&f64::atan2, (x, y), (ex, ey), r) + computed + tiny,
            // As many products as the exponent has bits, twice.
            FPowI => corners(&|x, y| x.powf(y), (x, y), (ex, ey), r) + 128.0 * rounded + tiny,
            RemF | Bitcast if ex == 0.0 && ey == 0.0 => 0.0,
            _ => f64::INFINITY,
        }
    }

    fn integer_error(&self, a: [f64; 3], e: [f64; 3], exact: bool) -> f64 {
        use NumOp::*;
        let [x, y, _] = a;
        let [ex, ey, _] = e;
        match self.op {
            _ if exact => 0.0,
            AddI(_) | SubI(_) => ex + ey,
            MulI(_) => x.abs() * ey + y.abs() * ex + ex * ey,
            MaxSI | MaxUI | MinSI | MinUI => ex.max(ey),
            CmpI(_) => uncertain(x, y, ex + ey),
            AndI | OrI | XOrI if self.result == DType::I1 => 1.0,
            ExtSI | ExtUI | TruncI(_) | IndexCast | IndexCastUI | AbsI => ex,
            Select => selected(a, e),
            _ => f64::INFINITY,
        }
    }
}

/// Whether a comparison may go the other way, as a number.
fn uncertain(x: f64, y: f64, error: f64) -> f64 {
    f64::from(u8::from(error > 0.0 && ((x - y).abs() <= error || !error.is_finite())))
}

fn selected([condition, x, y]: [f64; 3], [uncertain, ex, ey]: [f64; 3]) -> f64 {
    match (uncertain > 0.0, condition != 0.0) {
        (true, _) => (x - y).abs() + ex.max(ey),
        (false, true) => ex,
        (false, false) => ey,
    }
}

/// How far a function's result moves where its argument does.
fn moved(f: &dyn Fn(f64, f64) -> f64, function: MathFn, at: (f64, f64), by: (f64, f64), r: f64) -> f64 {
    match function {
        // Their extremes lie between the ends, and they move no faster than their argument.
        MathFn::Sin | MathFn::Cos => by.0.min(2.0),
        _ => corners(f, at, by, r),
    }
}

/// How far the results at the corners of what operands may be are from that in the middle.
fn corners(f: &dyn Fn(f64, f64) -> f64, (x, y): (f64, f64), (ex, ey): (f64, f64), r: f64) -> f64 {
    if ex == 0.0 && ey == 0.0 {
        return 0.0;
    }
    let at = [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)];
    let middle = f(x, y);
    let far = at.iter().map(|(i, j)| (f(x + i * ex, y + j * ey) - middle).abs());
    // NaN counts: there the function is not defined. A little more, as it is curved.
    let far = far.fold(0.0, |most: f64, far| if far.is_nan() { f64::NAN } else { most.max(far) });
    if r.is_finite() { 1.125 * far } else { f64::INFINITY }
}
