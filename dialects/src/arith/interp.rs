//! What arith ops do when a program runs.

use sutura_interp::elementwise::{apply, attach};
use sutura_interp::num::{CmpF, CmpI, NumOp, Overflow, Rounding};
use sutura_interp::{
    ConstantOp, Elementwise, Fault, Flow, Frame, InterpError, Interpret, Meaning, ScalarMeaning, Value,
};
use sutura_ir::smallvec::{SmallVec, smallvec};
use sutura_ir::{DialectBuilder, OpRef};

use super::attrs::IntegerOverflowFlags;

/// Attaches the hooks.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    attach(d, "arith.constant", &ConstantOp);
    attach(d, "arith.select", &Select);
    d.interface::<dyn Interpret>("arith.addui_extended", &addui_extended)
        .interface::<dyn Interpret>("arith.mulsi_extended", &mulsi_extended)
        .interface::<dyn Interpret>("arith.mului_extended", &mului_extended);
    integers(d);
    floats(d);
    casts(d);
}

/// A sum of unsigned integers is less than a summand exactly when it overflows.
fn addui_extended(_: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let (lhs, rhs) = (frame.operand(0)?.clone(), frame.operand(1)?.clone());
    let sum = apply(NumOp::AddI(Overflow::default()), &[&lhs, &rhs], None)?;
    let overflow = apply(NumOp::CmpI(CmpI::Ult), &[&sum, &lhs], None)?;
    frame.set(0, sum)?;
    frame.set(1, overflow)?;
    Ok(Flow::Next)
}

fn mulsi_extended(_: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    wide_product(frame, NumOp::MulSHigh)
}

fn mului_extended(_: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    wide_product(frame, NumOp::MulUHigh)
}

/// The low and the high half of a product; the low one is the same with and without sign.
fn wide_product(frame: &mut Frame<'_>, high: NumOp) -> Result<Flow, InterpError> {
    let (lhs, rhs) = (frame.operand(0)?.clone(), frame.operand(1)?.clone());
    let low = apply(NumOp::MulI(Overflow::WRAP), &[&lhs, &rhs], None)?;
    let high = apply(high, &[&lhs, &rhs], None)?;
    frame.set(0, low)?;
    frame.set(1, high)?;
    Ok(Flow::Next)
}

/// Attaches ops that need no attribute.
macro_rules! plain {
    ($d:expr, $($name:literal => $op:expr),+ $(,)?) => {
        $(attach($d, $name, &Elementwise(|_| Ok($op)));)+
    };
}

fn integers(d: &mut DialectBuilder<'_>) {
    attach(d, "arith.addi", &Elementwise(|op| Ok(NumOp::AddI(overflow(op)))));
    attach(d, "arith.subi", &Elementwise(|op| Ok(NumOp::SubI(overflow(op)))));
    attach(d, "arith.muli", &Elementwise(|op| Ok(NumOp::MulI(overflow(op)))));
    attach(d, "arith.shli", &Elementwise(|op| Ok(NumOp::ShLI(overflow(op)))));
    attach(d, "arith.divsi", &Elementwise(|op| Ok(NumOp::DivSI { exact: exact(op) })));
    attach(d, "arith.divui", &Elementwise(|op| Ok(NumOp::DivUI { exact: exact(op) })));
    attach(d, "arith.shrsi", &Elementwise(|op| Ok(NumOp::ShRSI { exact: exact(op) })));
    attach(d, "arith.shrui", &Elementwise(|op| Ok(NumOp::ShRUI { exact: exact(op) })));
    attach(d, "arith.cmpi", &Elementwise(|op| predicate(op, CmpI::from_number).map(NumOp::CmpI)));
    plain! { d,
        "arith.ceildivsi" => NumOp::CeilDivSI,
        "arith.ceildivui" => NumOp::CeilDivUI,
        "arith.floordivsi" => NumOp::FloorDivSI,
        "arith.remsi" => NumOp::RemSI,
        "arith.remui" => NumOp::RemUI,
        "arith.andi" => NumOp::AndI,
        "arith.ori" => NumOp::OrI,
        "arith.xori" => NumOp::XOrI,
        "arith.maxsi" => NumOp::MaxSI,
        "arith.maxui" => NumOp::MaxUI,
        "arith.minsi" => NumOp::MinSI,
        "arith.minui" => NumOp::MinUI,
    }
}

fn floats(d: &mut DialectBuilder<'_>) {
    attach(d, "arith.cmpf", &Elementwise(|op| predicate(op, CmpF::from_number).map(NumOp::CmpF)));
    plain! { d,
        "arith.negf" => NumOp::NegF,
        "arith.addf" => NumOp::AddF,
        "arith.subf" => NumOp::SubF,
        "arith.mulf" => NumOp::MulF,
        "arith.divf" => NumOp::DivF,
        "arith.remf" => NumOp::RemF,
        "arith.maximumf" => NumOp::MaximumF,
        "arith.minimumf" => NumOp::MinimumF,
        "arith.maxnumf" => NumOp::MaxNumF,
        "arith.minnumf" => NumOp::MinNumF,
    }
}

fn casts(d: &mut DialectBuilder<'_>) {
    attach(d, "arith.trunci", &Elementwise(|op| Ok(NumOp::TruncI(overflow(op)))));
    attach(d, "arith.truncf", &Elementwise(|op| rounding(op).map(NumOp::TruncF)));
    plain! { d,
        "arith.extui" => NumOp::ExtUI,
        "arith.extsi" => NumOp::ExtSI,
        "arith.extf" => NumOp::ExtF,
        "arith.uitofp" => NumOp::UIToFP,
        "arith.sitofp" => NumOp::SIToFP,
        "arith.fptoui" => NumOp::FPToUI,
        "arith.fptosi" => NumOp::FPToSI,
        "arith.index_cast" => NumOp::IndexCast,
        "arith.index_castui" => NumOp::IndexCastUI,
        "arith.bitcast" => NumOp::Bitcast,
    }
}

fn overflow(op: OpRef<'_>) -> Overflow {
    let flags = op.prop("overflowFlags").and_then(|a| op.cx.attr_as::<IntegerOverflowFlags>(a).copied());
    let flags = flags.unwrap_or(IntegerOverflowFlags::NONE);
    Overflow { nsw: flags.has(IntegerOverflowFlags::NSW), nuw: flags.has(IntegerOverflowFlags::NUW) }
}

fn exact(op: OpRef<'_>) -> bool {
    op.prop("isExact").is_some()
}

fn predicate<P>(op: OpRef<'_>, from_number: fn(i64) -> Option<P>) -> Result<P, Fault> {
    let number = op.prop("predicate").and_then(|a| op.cx.as_int(a));
    number.and_then(from_number).ok_or_else(|| Fault::invalid_ir("has no valid 'predicate'"))
}

fn rounding(op: OpRef<'_>) -> Result<Rounding, Fault> {
    let Some(attr) = op.prop("roundingmode") else { return Ok(Rounding::ToNearestEven) };
    match op.cx.as_int(attr) {
        Some(0) => Ok(Rounding::ToNearestEven),
        Some(1) => Ok(Rounding::Downward),
        Some(2) => Ok(Rounding::Upward),
        Some(3) => Ok(Rounding::TowardZero),
        Some(4) => Ok(Rounding::ToNearestAway),
        _ => Err(Fault::invalid_ir("has no valid 'roundingmode'")),
    }
}

/// A scalar condition chooses between values of any kind, memrefs among them; others choose element by element.
pub(crate) struct Select;

impl Interpret for Select {
    fn interpret(&self, _: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
        let chosen = match frame.operand(0)? {
            Value::Scalar(c) => frame.take(if c.as_bool() == Some(true) { 1 } else { 2 })?,
            condition => apply(NumOp::Select, &[condition, frame.operand(1)?, frame.operand(2)?], None)?,
        };
        frame.set(0, chosen)?;
        Ok(Flow::Next)
    }
}

impl ScalarMeaning for Select {
    fn meaning(&self, _: OpRef<'_>) -> Result<SmallVec<[Meaning; 1]>, Fault> {
        Ok(smallvec![Meaning::Num(NumOp::Select)])
    }
}
