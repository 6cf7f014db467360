//! What intrinsics and vector operations of the llvm dialect do when a program runs.

use sutura_interp::elementwise::{apply, attach};
use sutura_interp::num::{CmpI, MathFn, NumOp, Overflow};
use sutura_interp::{DType, Elementwise, Fault, FaultKind, Flow, Frame, InterpError, Interpret, Scalar, Tensor, Value};
use sutura_ir::{DialectBuilder, OpRef};

use super::interp::{any_set, held, next};
use crate::interp::group;
use crate::vector::interp::{reduce, shuffle, vector};

/// Attaches ops that need no attribute.
macro_rules! plain {
    ($d:expr, $($name:literal => $op:expr),+ $(,)?) => {
        $(attach($d, $name, &Elementwise(|_| Ok($op)));)+
    };
}

/// Attaches reductions.
macro_rules! reductions {
    ($d:expr, $($name:literal => $op:expr),+ $(,)?) => {
        $($d.interface::<dyn Interpret>(
            concat!("llvm.intr.vector.reduce.", $name),
            &|_: OpRef<'_>, frame: &mut Frame<'_>| reduction(frame, $op),
        );)+
    };
}

/// Attaches the hooks.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    functions(d);
    plain! { d,
        "llvm.intr.fma" => NumOp::Fma,
        "llvm.intr.fmuladd" => NumOp::Fma,
        "llvm.intr.atan2" => NumOp::Atan2,
        "llvm.intr.pow" => NumOp::PowF,
        "llvm.intr.powi" => NumOp::FPowI,
        "llvm.intr.copysign" => NumOp::CopySign,
        "llvm.intr.maximum" => NumOp::MaximumF,
        "llvm.intr.minimum" => NumOp::MinimumF,
        "llvm.intr.maxnum" => NumOp::MaxNumF,
        "llvm.intr.minnum" => NumOp::MinNumF,
        "llvm.intr.smax" => NumOp::MaxSI,
        "llvm.intr.smin" => NumOp::MinSI,
        "llvm.intr.umax" => NumOp::MaxUI,
        "llvm.intr.umin" => NumOp::MinUI,
        "llvm.intr.ctpop" => NumOp::CtPop,
    }
    reductions! { d,
        "add" => NumOp::AddI(Overflow::WRAP),
        "mul" => NumOp::MulI(Overflow::WRAP),
        "and" => NumOp::AndI,
        "or" => NumOp::OrI,
        "xor" => NumOp::XOrI,
        "smax" => NumOp::MaxSI,
        "smin" => NumOp::MinSI,
        "umax" => NumOp::MaxUI,
        "umin" => NumOp::MinUI,
        "fmax" => NumOp::MaxNumF,
        "fmin" => NumOp::MinNumF,
        "fmaximum" => NumOp::MaximumF,
        "fminimum" => NumOp::MinimumF,
    }
    d.interface::<dyn Interpret>("llvm.intr.vector.reduce.fadd", &sum)
        .interface::<dyn Interpret>("llvm.intr.vector.reduce.fmul", &product)
        .interface::<dyn Interpret>("llvm.intr.abs", &abs)
        .interface::<dyn Interpret>("llvm.intr.ctlz", &leading_zeros)
        .interface::<dyn Interpret>("llvm.intr.cttz", &trailing_zeros)
        .interface::<dyn Interpret>("llvm.extractelement", &extract_element)
        .interface::<dyn Interpret>("llvm.insertelement", &insert_element)
        .interface::<dyn Interpret>("llvm.shufflevector", &shuffle)
        .interface::<dyn Interpret>("llvm.call_intrinsic", &call_intrinsic);
}

fn functions(d: &mut DialectBuilder<'_>) {
    plain! { d,
        "llvm.intr.acos" => NumOp::Math(MathFn::Acos),
        "llvm.intr.asin" => NumOp::Math(MathFn::Asin),
        "llvm.intr.atan" => NumOp::Math(MathFn::Atan),
        "llvm.intr.ceil" => NumOp::Math(MathFn::Ceil),
        "llvm.intr.cos" => NumOp::Math(MathFn::Cos),
        "llvm.intr.cosh" => NumOp::Math(MathFn::Cosh),
        "llvm.intr.exp" => NumOp::Math(MathFn::Exp),
        "llvm.intr.exp2" => NumOp::Math(MathFn::Exp2),
        "llvm.intr.fabs" => NumOp::Math(MathFn::AbsF),
        "llvm.intr.floor" => NumOp::Math(MathFn::Floor),
        "llvm.intr.log" => NumOp::Math(MathFn::Log),
        "llvm.intr.log10" => NumOp::Math(MathFn::Log10),
        "llvm.intr.log2" => NumOp::Math(MathFn::Log2),
        "llvm.intr.nearbyint" => NumOp::Math(MathFn::RoundEven),
        "llvm.intr.rint" => NumOp::Math(MathFn::RoundEven),
        "llvm.intr.round" => NumOp::Math(MathFn::Round),
        "llvm.intr.roundeven" => NumOp::Math(MathFn::RoundEven),
        "llvm.intr.sin" => NumOp::Math(MathFn::Sin),
        "llvm.intr.sinh" => NumOp::Math(MathFn::Sinh),
        "llvm.intr.sqrt" => NumOp::Math(MathFn::Sqrt),
        "llvm.intr.tan" => NumOp::Math(MathFn::Tan),
        "llvm.intr.tanh" => NumOp::Math(MathFn::Tanh),
        "llvm.intr.trunc" => NumOp::Math(MathFn::Trunc),
    }
}

// ---- integers with a special case

fn set(op: OpRef<'_>, name: &str) -> bool {
    op.prop(name).and_then(|a| op.cx.as_bool(a)).unwrap_or(false)
}

/// Poison where an element of the operand is `special`, if the op says so.
fn guarded(op: OpRef<'_>, frame: &mut Frame<'_>, num: NumOp, flag: &str, special: Scalar) -> Result<Flow, InterpError> {
    let operand = frame.operand(0)?;
    let special = Value::Scalar(special);
    if set(op, flag) && any_set(&apply(NumOp::CmpI(CmpI::Eq), &[operand, &special], None)?)? {
        let message = format!("the operand is {}, for which `{flag}` is set", special.scalar()?);
        return Err(Fault::new(FaultKind::Poison, message).into());
    }
    let result = apply(num, &[operand], None)?;
    next(frame, result)
}

fn abs(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let dtype = held(op.cx, frame.result_type(0)?)?;
    let smallest = Scalar::int(1 << (dtype.bits() - 1).min(63), dtype);
    guarded(op, frame, NumOp::AbsI, "is_int_min_poison", smallest)
}

fn zeros(op: OpRef<'_>, frame: &mut Frame<'_>, num: NumOp) -> Result<Flow, InterpError> {
    let zero = Scalar::zero(held(op.cx, frame.result_type(0)?)?);
    guarded(op, frame, num, "is_zero_poison", zero)
}

fn leading_zeros(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    zeros(op, frame, NumOp::CtLz)
}

fn trailing_zeros(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    zeros(op, frame, NumOp::CtTz)
}

// ---- reductions and elements

fn reduction(frame: &mut Frame<'_>, combine: NumOp) -> Result<Flow, InterpError> {
    let result = reduce(&vector(frame, 0)?, None, combine)?;
    next(frame, result)
}

/// A reduction from a start value on.
fn from_start(frame: &mut Frame<'_>, combine: NumOp) -> Result<Flow, InterpError> {
    let start = frame.operand(0)?.scalar()?;
    let result = reduce(&vector(frame, 1)?, Some(start), combine)?;
    next(frame, result)
}

fn sum(_: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    from_start(frame, NumOp::AddF)
}

fn product(_: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    from_start(frame, NumOp::MulF)
}

/// The element that an operand names; one outside of the vector is poison.
fn lane(frame: &Frame<'_>, operand: usize, source: &Tensor) -> Result<usize, Fault> {
    let index = frame.operand(operand)?.scalar()?.bits();
    let at = usize::try_from(index).ok().filter(|at| *at < source.len());
    at.ok_or_else(|| Fault::new(FaultKind::Poison, format!("element {index} of {}", source.len())))
}

fn extract_element(_: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let source = vector(frame, 0)?;
    let value = source.data().read(lane(frame, 1, &source)?)?;
    next(frame, value)
}

fn insert_element(_: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let (mut result, value) = (vector(frame, 0)?, frame.operand(1)?.scalar()?);
    let at = lane(frame, 2, &result)?;
    result.data_mut().set(at, Some(value));
    next(frame, Value::Vector(result))
}

// ---- by name

/// Intrinsics that work element by element, by name without `llvm.` and types.
fn intrinsic(name: &str) -> Option<NumOp> {
    Some(match name {
        "fma" | "fmuladd" => NumOp::Fma,
        "fabs" => NumOp::Math(MathFn::AbsF),
        "sqrt" => NumOp::Math(MathFn::Sqrt),
        "floor" => NumOp::Math(MathFn::Floor),
        "ceil" => NumOp::Math(MathFn::Ceil),
        "trunc" => NumOp::Math(MathFn::Trunc),
        "round" => NumOp::Math(MathFn::Round),
        "roundeven" | "rint" | "nearbyint" => NumOp::Math(MathFn::RoundEven),
        "exp" => NumOp::Math(MathFn::Exp),
        "exp2" => NumOp::Math(MathFn::Exp2),
        "log" => NumOp::Math(MathFn::Log),
        "log2" => NumOp::Math(MathFn::Log2),
        "log10" => NumOp::Math(MathFn::Log10),
        "sin" => NumOp::Math(MathFn::Sin),
        "cos" => NumOp::Math(MathFn::Cos),
        "tanh" => NumOp::Math(MathFn::Tanh),
        "pow" => NumOp::PowF,
        "copysign" => NumOp::CopySign,
        "maximum" => NumOp::MaximumF,
        "minimum" => NumOp::MinimumF,
        "maxnum" => NumOp::MaxNumF,
        "minnum" => NumOp::MinNumF,
        "smax" => NumOp::MaxSI,
        "smin" => NumOp::MinSI,
        "umax" => NumOp::MaxUI,
        "umin" => NumOp::MinUI,
        "ctpop" => NumOp::CtPop,
        _ => return None,
    })
}

fn call_intrinsic(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let full = op.prop("intrin").and_then(|a| op.cx.as_str(a)).unwrap_or_default();
    if full.starts_with("llvm.x86.avx512.mask.scalef.ps.") {
        return masked_scale(op, frame);
    }
    let name = full.strip_prefix("llvm.").and_then(|n| n.split('.').next()).unwrap_or_default();
    let num =
        intrinsic(name).ok_or_else(|| Fault::unsupported(format!("the intrinsic '{full}' has no meaning here")))?;
    let args = group(op, 0)?;
    if args.len() != num.arity() {
        return Err(Fault::invalid_ir(format!("'{full}' takes {} arguments", num.arity())).into());
    }
    let operands = args.map(|i| frame.operand(i)).collect::<Result<Vec<_>, _>>()?;
    let result = apply(num, &operands, None)?;
    next(frame, result)
}

/// `a * 2^floor(b)` for the lanes of a mask and a third vector's elsewhere, on 32-bit floats, rounded to nearest.
fn masked_scale(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let operands: Vec<usize> = group(op, 0)?.collect();
    let [a, b, other, mask, ..] = operands[..] else {
        return Err(Fault::invalid_ir("scaling takes two vectors, what stands elsewhere, and a mask").into());
    };
    let (a, b, mut result) = (vector(frame, a)?, vector(frame, b)?, vector(frame, other)?);
    let mask = frame.operand(mask)?.scalar()?.bits();
    for lane in (0..a.len()).filter(|lane| mask >> lane & 1 == 1) {
        let [a, b] = [&a, &b].map(|v| v.data().read(lane).map(|s| f64::from(f32::from_bits(s.bits() as u32))));
        // The product is exact in doubles for powers that do not take it out of the range of 32-bit floats.
        let scaled = (a? * b?.floor().clamp(-400.0, 400.0).exp2()) as f32;
        result.data_mut().set(lane, Some(Scalar::from_bits(DType::F32, scaled.to_bits().into())));
    }
    next(frame, Value::Vector(result))
}
