//! What intrinsics and vector operations of the llvm dialect do when a program runs.

use sutura_interp::elementwise::{apply, attach};
use sutura_interp::num::{CmpI, MathFn, NumOp, Overflow};
use sutura_interp::{DType, Elementwise, Fault, FaultKind, Flow, Frame, InterpError, Interpret, Scalar, Tensor, Value};
use sutura_ir::{DialectBuilder, OpRef};

use super::interp::{any_set, held, next};
use crate::interp::group;
use crate::llvm::{
    ACosOp, ASinOp, ATan2Op, ATanOp, AbsOp, CallIntrinsicOp, CopySignOp, CosOp, CoshOp, CountLeadingZerosOp,
    CountTrailingZerosOp, CtPopOp, Exp2Op, ExpOp, ExtractElementOp, FAbsOp, FCeilOp, FFloorOp, FMAOp, FMulAddOp,
    FTruncOp, InsertElementOp, Log2Op, Log10Op, LogOp, MaxNumOp, MaximumOp, MinNumOp, MinimumOp, NearbyintOp, PowIOp,
    PowOp, ReduceAddOp, ReduceAndOp, ReduceFAddOp, ReduceFMaxOp, ReduceFMaximumOp, ReduceFMinOp, ReduceFMinimumOp,
    ReduceFMulOp, ReduceMulOp, ReduceOrOp, ReduceSMaxOp, ReduceSMinOp, ReduceUMaxOp, ReduceUMinOp, ReduceXorOp, RintOp,
    RoundEvenOp, RoundOp, SMaxOp, SMinOp, ShuffleVectorOp, SinOp, SinhOp, SqrtOp, TanOp, TanhOp, UMaxOp, UMinOp,
};
use crate::vector::interp::{reduce, shuffle, vector};

/// Attaches ops that need no attribute.
macro_rules! plain {
    ($d:expr, $($of:ident => $op:expr),+ $(,)?) => {
        $(attach::<$of<'_>, _>($d, &Elementwise(|_| Ok($op)));)+
    };
}

/// Attaches reductions.
macro_rules! reductions {
    ($d:expr, $($of:ident => $op:expr),+ $(,)?) => {
        $($d.op_interface::<$of<'_>, dyn Interpret>(&|_: OpRef<'_>, frame: &mut Frame<'_>| reduction(frame, $op));)+
    };
}

/// Attaches the hooks.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    functions(d);
    plain! { d,
        FMAOp => NumOp::Fma,
        FMulAddOp => NumOp::Fma,
        ATan2Op => NumOp::Atan2,
        PowOp => NumOp::PowF,
        PowIOp => NumOp::FPowI,
        CopySignOp => NumOp::CopySign,
        MaximumOp => NumOp::MaximumF,
        MinimumOp => NumOp::MinimumF,
        MaxNumOp => NumOp::MaxNumF,
        MinNumOp => NumOp::MinNumF,
        SMaxOp => NumOp::MaxSI,
        SMinOp => NumOp::MinSI,
        UMaxOp => NumOp::MaxUI,
        UMinOp => NumOp::MinUI,
        CtPopOp => NumOp::CtPop,
    }
    reductions! { d,
        ReduceAddOp => NumOp::AddI(Overflow::WRAP),
        ReduceMulOp => NumOp::MulI(Overflow::WRAP),
        ReduceAndOp => NumOp::AndI,
        ReduceOrOp => NumOp::OrI,
        ReduceXorOp => NumOp::XOrI,
        ReduceSMaxOp => NumOp::MaxSI,
        ReduceSMinOp => NumOp::MinSI,
        ReduceUMaxOp => NumOp::MaxUI,
        ReduceUMinOp => NumOp::MinUI,
        ReduceFMaxOp => NumOp::MaxNumF,
        ReduceFMinOp => NumOp::MinNumF,
        ReduceFMaximumOp => NumOp::MaximumF,
        ReduceFMinimumOp => NumOp::MinimumF,
    }
    d.op_interface::<ReduceFAddOp<'_>, dyn Interpret>(&sum)
        .op_interface::<ReduceFMulOp<'_>, dyn Interpret>(&product)
        .op_interface::<AbsOp<'_>, dyn Interpret>(&abs)
        .op_interface::<CountLeadingZerosOp<'_>, dyn Interpret>(&leading_zeros)
        .op_interface::<CountTrailingZerosOp<'_>, dyn Interpret>(&trailing_zeros)
        .op_interface::<ExtractElementOp<'_>, dyn Interpret>(&extract_element)
        .op_interface::<InsertElementOp<'_>, dyn Interpret>(&insert_element)
        .op_interface::<ShuffleVectorOp<'_>, dyn Interpret>(&shuffle)
        .op_interface::<CallIntrinsicOp<'_>, dyn Interpret>(&call_intrinsic);
}

fn functions(d: &mut DialectBuilder<'_>) {
    plain! { d,
        ACosOp => NumOp::Math(MathFn::Acos),
        ASinOp => NumOp::Math(MathFn::Asin),
        ATanOp => NumOp::Math(MathFn::Atan),
        FCeilOp => NumOp::Math(MathFn::Ceil),
        CosOp => NumOp::Math(MathFn::Cos),
        CoshOp => NumOp::Math(MathFn::Cosh),
        ExpOp => NumOp::Math(MathFn::Exp),
        Exp2Op => NumOp::Math(MathFn::Exp2),
        FAbsOp => NumOp::Math(MathFn::AbsF),
        FFloorOp => NumOp::Math(MathFn::Floor),
        LogOp => NumOp::Math(MathFn::Log),
        Log10Op => NumOp::Math(MathFn::Log10),
        Log2Op => NumOp::Math(MathFn::Log2),
        NearbyintOp => NumOp::Math(MathFn::RoundEven),
        RintOp => NumOp::Math(MathFn::RoundEven),
        RoundOp => NumOp::Math(MathFn::Round),
        RoundEvenOp => NumOp::Math(MathFn::RoundEven),
        SinOp => NumOp::Math(MathFn::Sin),
        SinhOp => NumOp::Math(MathFn::Sinh),
        SqrtOp => NumOp::Math(MathFn::Sqrt),
        TanOp => NumOp::Math(MathFn::Tan),
        TanhOp => NumOp::Math(MathFn::Tanh),
        FTruncOp => NumOp::Math(MathFn::Trunc),
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
    let operands: Vec<usize> = group(op, 0)?.collect();
    let dot = super::interp_dots::dot(full, &operands, frame);
    if let Some(result) = dot.or_else(|| super::interp_matrix::matrix(full, &operands, frame)) {
        return result;
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
