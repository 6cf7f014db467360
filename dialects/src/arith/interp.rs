//! What arith ops do when a program runs.

use sutura_interp::elementwise::{apply, attach};
use sutura_interp::num::{CmpF, CmpI, NumOp, Overflow, Rounding};
use sutura_interp::{
    ConstantOp, Elementwise, Fault, Flow, Frame, InterpError, Interpret, Meaning, ScalarMeaning, Value,
};
use sutura_ir::smallvec::{SmallVec, smallvec};
use sutura_ir::{DialectBuilder, OpRef};

use super::attrs::IntegerOverflowFlags;
use crate::arith::{
    AddFOp, AddIOp, AddUIExtendedOp, AndIOp, BitcastOp, CeilDivSIOp, CeilDivUIOp, CmpFOp, CmpIOp, DivFOp, DivSIOp,
    DivUIOp, ExtFOp, ExtSIOp, ExtUIOp, FPToSIOp, FPToUIOp, FloorDivSIOp, IndexCastOp, IndexCastUIOp, MaxNumFOp,
    MaxSIOp, MaxUIOp, MaximumFOp, MinNumFOp, MinSIOp, MinUIOp, MinimumFOp, MulFOp, MulIOp, MulSIExtendedOp,
    MulUIExtendedOp, NegFOp, OrIOp, RemFOp, RemSIOp, RemUIOp, SIToFPOp, SelectOp, ShLIOp, ShRSIOp, ShRUIOp, SubFOp,
    SubIOp, TruncFOp, TruncIOp, UIToFPOp, XOrIOp,
};

/// Attaches the hooks.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    attach::<crate::arith::ConstantOp<'_>, _>(d, &ConstantOp);
    attach::<SelectOp<'_>, _>(d, &Select);
    d.op_interface::<AddUIExtendedOp<'_>, dyn Interpret>(&addui_extended)
        .op_interface::<MulSIExtendedOp<'_>, dyn Interpret>(&mulsi_extended)
        .op_interface::<MulUIExtendedOp<'_>, dyn Interpret>(&mului_extended);
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
    ($d:expr, $($of:ident => $op:expr),+ $(,)?) => {
        $(attach::<$of<'_>, _>($d, &Elementwise(|_| Ok($op)));)+
    };
}

fn integers(d: &mut DialectBuilder<'_>) {
    attach::<AddIOp<'_>, _>(d, &Elementwise(|op| Ok(NumOp::AddI(overflow(op)))));
    attach::<SubIOp<'_>, _>(d, &Elementwise(|op| Ok(NumOp::SubI(overflow(op)))));
    attach::<MulIOp<'_>, _>(d, &Elementwise(|op| Ok(NumOp::MulI(overflow(op)))));
    attach::<ShLIOp<'_>, _>(d, &Elementwise(|op| Ok(NumOp::ShLI(overflow(op)))));
    attach::<DivSIOp<'_>, _>(d, &Elementwise(|op| Ok(NumOp::DivSI { exact: exact(op) })));
    attach::<DivUIOp<'_>, _>(d, &Elementwise(|op| Ok(NumOp::DivUI { exact: exact(op) })));
    attach::<ShRSIOp<'_>, _>(d, &Elementwise(|op| Ok(NumOp::ShRSI { exact: exact(op) })));
    attach::<ShRUIOp<'_>, _>(d, &Elementwise(|op| Ok(NumOp::ShRUI { exact: exact(op) })));
    attach::<CmpIOp<'_>, _>(d, &Elementwise(|op| predicate(op, CmpI::from_number).map(NumOp::CmpI)));
    plain! { d,
        CeilDivSIOp => NumOp::CeilDivSI,
        CeilDivUIOp => NumOp::CeilDivUI,
        FloorDivSIOp => NumOp::FloorDivSI,
        RemSIOp => NumOp::RemSI,
        RemUIOp => NumOp::RemUI,
        AndIOp => NumOp::AndI,
        OrIOp => NumOp::OrI,
        XOrIOp => NumOp::XOrI,
        MaxSIOp => NumOp::MaxSI,
        MaxUIOp => NumOp::MaxUI,
        MinSIOp => NumOp::MinSI,
        MinUIOp => NumOp::MinUI,
    }
}

fn floats(d: &mut DialectBuilder<'_>) {
    attach::<CmpFOp<'_>, _>(d, &Elementwise(|op| predicate(op, CmpF::from_number).map(NumOp::CmpF)));
    plain! { d,
        NegFOp => NumOp::NegF,
        AddFOp => NumOp::AddF,
        SubFOp => NumOp::SubF,
        MulFOp => NumOp::MulF,
        DivFOp => NumOp::DivF,
        RemFOp => NumOp::RemF,
        MaximumFOp => NumOp::MaximumF,
        MinimumFOp => NumOp::MinimumF,
        MaxNumFOp => NumOp::MaxNumF,
        MinNumFOp => NumOp::MinNumF,
    }
}

fn casts(d: &mut DialectBuilder<'_>) {
    attach::<TruncIOp<'_>, _>(d, &Elementwise(|op| Ok(NumOp::TruncI(overflow(op)))));
    attach::<TruncFOp<'_>, _>(d, &Elementwise(|op| rounding(op).map(NumOp::TruncF)));
    plain! { d,
        ExtUIOp => NumOp::ExtUI,
        ExtSIOp => NumOp::ExtSI,
        ExtFOp => NumOp::ExtF,
        UIToFPOp => NumOp::UIToFP,
        SIToFPOp => NumOp::SIToFP,
        FPToUIOp => NumOp::FPToUI,
        FPToSIOp => NumOp::FPToSI,
        IndexCastOp => NumOp::IndexCast,
        IndexCastUIOp => NumOp::IndexCastUI,
        BitcastOp => NumOp::Bitcast,
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
