//! What intrinsics that look at single bits, or give more than a number, do when a program runs.

use sutura_interp::elementwise::apply;
use sutura_interp::num::NumOp;
use sutura_interp::{DType, Fault, Flow, Frame, InterpError, Interpret, Scalar, Tensor, Value};
use sutura_ir::{DialectBuilder, OpRef};

use super::interp::{Aggregate, held, next};
use crate::llvm::{
    BitReverseOp, ByteSwapOp, Exp10Op, IsFPClassOp, SAddWithOverflowOp, SMulWithOverflowOp, SSubWithOverflowOp,
    UAddWithOverflowOp, UMulWithOverflowOp, USubWithOverflowOp,
};

/// Attaches the hooks.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.op_interface::<BitReverseOp<'_>, dyn Interpret>(&bit_reverse)
        .op_interface::<ByteSwapOp<'_>, dyn Interpret>(&byte_swap)
        .op_interface::<Exp10Op<'_>, dyn Interpret>(&exp10)
        .op_interface::<IsFPClassOp<'_>, dyn Interpret>(&is_class)
        .op_interface::<SAddWithOverflowOp<'_>, dyn Interpret>(&signed_add)
        .op_interface::<UAddWithOverflowOp<'_>, dyn Interpret>(&unsigned_add)
        .op_interface::<SSubWithOverflowOp<'_>, dyn Interpret>(&signed_sub)
        .op_interface::<USubWithOverflowOp<'_>, dyn Interpret>(&unsigned_sub)
        .op_interface::<SMulWithOverflowOp<'_>, dyn Interpret>(&signed_mul)
        .op_interface::<UMulWithOverflowOp<'_>, dyn Interpret>(&unsigned_mul);
}

/// A function of scalars on scalars, or element by element on vectors.
fn map(operands: &[&Value], to: DType, f: &dyn Fn(&[Scalar]) -> Result<Scalar, Fault>) -> Result<Value, Fault> {
    if operands.iter().all(|v| matches!(v, Value::Scalar(_))) {
        let scalars = operands.iter().map(|v| v.scalar()).collect::<Result<Vec<_>, _>>()?;
        return f(&scalars).map(Value::Scalar);
    }
    let vectors = operands.iter().map(|v| v.vector()).collect::<Result<Vec<_>, _>>()?;
    let first = vectors.first().ok_or_else(|| Fault::invalid_ir("has no operands"))?;
    let mut results = Vec::with_capacity(first.len());
    for i in 0..first.len() {
        let scalars = vectors.iter().map(|v| v.data().read(i)).collect::<Result<Vec<_>, _>>()?;
        results.push(f(&scalars)?);
    }
    Tensor::from_scalars(to, first.shape(), results).map(Value::Vector)
}

/// A function of the bits of an integer and their number.
fn on_bits(op: OpRef<'_>, frame: &mut Frame<'_>, f: fn(u64, u32) -> u64) -> Result<Flow, InterpError> {
    let dtype = held(op.cx, op.ty(op.operand(0)))?;
    let result = map(&[frame.operand(0)?], dtype, &|s| Ok(Scalar::from_bits(dtype, f(s[0].bits(), dtype.bits()))))?;
    next(frame, result)
}

fn bit_reverse(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    on_bits(op, frame, |bits, width| bits.reverse_bits() >> (64 - width))
}

fn byte_swap(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    if !held(op.cx, op.ty(op.operand(0)))?.bits().is_multiple_of(16) {
        return Err(Fault::invalid_ir("the width must be a multiple of 16 bits").into());
    }
    on_bits(op, frame, |bits, width| bits.swap_bytes() >> (64 - width))
}

fn exp10(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let dtype = held(op.cx, op.ty(op.operand(0)))?;
    let operand = frame.operand(0)?;
    let ten = map(&[operand], dtype, &|_| match dtype {
        DType::Float(kind) => Ok(Scalar::float(10.0, kind)),
        _ => Err(Fault::type_mismatch("10 to the power of something else than a float")),
    })?;
    let result = apply(NumOp::PowF, &[&ten, operand], None)?;
    next(frame, result)
}

// ---- classes of floats

/// The bit that `is.fpclass` has for a number: from signalling NaN to positive infinity, negative before positive.
fn class(value: Scalar) -> Result<i64, Fault> {
    let is = |num: NumOp| apply(num, &[&Value::Scalar(value)], None).and_then(|v| v.as_bool());
    let one = apply(NumOp::CopySign, &[&Value::Scalar(one_like(value)?), &Value::Scalar(value)], None)?;
    let negative = one.scalar()?.to_f64_lossy() < 0.0;
    let (below, above) = if is(NumOp::IsInf)? {
        (2, 9)
    } else if is(NumOp::IsNormal)? {
        (3, 8)
    } else if value.to_f64_lossy() == 0.0 {
        (5, 6)
    } else {
        (4, 7)
    };
    Ok(1 << if negative { below } else { above })
}

fn one_like(value: Scalar) -> Result<Scalar, Fault> {
    match value.dtype() {
        DType::Float(kind) => Ok(Scalar::float(1.0, kind)),
        _ => Err(Fault::type_mismatch("the class of something else than a float")),
    }
}

fn is_class(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    const NAN: i64 = 3;
    let wanted = op.prop("bit").and_then(|a| op.cx.as_int(a)).ok_or_else(|| Fault::invalid_ir("has no 'bit'"))?;
    let test = |scalars: &[Scalar]| {
        let value = scalars[0];
        if apply(NumOp::IsNan, &[&Value::Scalar(value)], None)?.as_bool()? {
            // Which kind of NaN a number is depends on the machine that made it.
            return match wanted & NAN {
                0 => Ok(Scalar::bool(false)),
                NAN => Ok(Scalar::bool(true)),
                _ => Err(Fault::unsupported("quiet and signalling NaNs are not told apart")),
            };
        }
        Ok(Scalar::bool(wanted & class(value)? != 0))
    };
    let result = map(&[frame.operand(0)?], DType::int(1), &test)?;
    next(frame, result)
}

// ---- overflow

/// Whether numbers are signed, and what is done with them, wide enough to hold every result.
type Wide = (bool, fn(i128, i128) -> i128);

fn overflowing(op: OpRef<'_>, frame: &mut Frame<'_>, (signed, f): Wide) -> Result<Flow, InterpError> {
    let dtype = held(op.cx, op.ty(op.operand(0)))?;
    let wide = |s: Scalar| {
        let value = if signed { s.as_i64().map(i128::from) } else { s.as_u64().map(i128::from) };
        value.ok_or_else(|| Fault::type_mismatch("overflow of something else than an integer"))
    };
    let whole = |s: &[Scalar]| Ok::<_, Fault>(f(wide(s[0])?, wide(s[1])?));
    let kept = |value: i128| Scalar::from_bits(dtype, value as u64);
    let operands = [frame.operand(0)?, frame.operand(1)?];
    let value = map(&operands, dtype, &|s| Ok(kept(whole(s)?)))?;
    let flag = map(&operands, DType::int(1), &|s| {
        let exact = whole(s)?;
        Ok(Scalar::bool(wide(kept(exact))? != exact))
    })?;
    next(frame, Value::opaque(Aggregate(vec![Some(value), Some(flag)])))
}

fn signed_add(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    overflowing(op, frame, (true, |a, b| a + b))
}

fn unsigned_add(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    overflowing(op, frame, (false, |a, b| a + b))
}

fn signed_sub(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    overflowing(op, frame, (true, |a, b| a - b))
}

fn unsigned_sub(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    overflowing(op, frame, (false, |a, b| a - b))
}

fn signed_mul(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    overflowing(op, frame, (true, |a, b| a.wrapping_mul(b)))
}

fn unsigned_mul(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    // 64 by 64 bits fit u128; as i128 the sign bit only says that there was an overflow, as it should.
    overflowing(op, frame, (false, |a, b| a.wrapping_mul(b)))
}
