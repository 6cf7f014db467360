//! Arithmetic on integers, `index` and floats, element by element on vectors and tensors.

mod asm;
mod attrs;
mod canonicalize;
mod casts;
mod fold;
pub(crate) mod interp;
mod ops;
mod ranges;
mod verify;
mod wide;

use sutura_ir::interfaces::{
    ConditionallySpeculatable, Effects, InlineCallables, Inliner, MemoryEffects, ResultNames, Speculatability,
};
use sutura_ir::name_of;
use sutura_ir::{Attr, Builder, Dialect, DialectBuilder, Loc, Op, OpRef, Type};

pub use asm::{FAST_MATH, OVERFLOW_FLAGS};
pub use attrs::{CmpFPredicate, CmpIPredicate, FastMathFlags, IntegerOverflowFlags, RoundingMode};
pub use ops::*;
pub use wide::*;

/// The arith dialect.
#[derive(Clone, Copy, Debug)]
pub struct ArithDialect;

impl Dialect for ArithDialect {
    const NAME: &'static str = "arith";

    fn register(d: &mut DialectBuilder<'_>) {
        d.description("Arithmetic on integers, `index` and floats, element by element on vectors and tensors.")
            .partial();
        d.directive("FastMath", asm::FAST_MATH)
            .directive("OverflowFlags", asm::OVERFLOW_FLAGS)
            .directive("SelectType", asm::SELECT_TYPE)
            .attr("fastmath", FastMathFlags::parse_attr)
            .attr("overflow", IntegerOverflowFlags::parse_attr)
            .materialize(materialize);
        register_integer_ops(d);
        register_float_ops(d);
        register_casts(d);
        d.op::<AddUIExtendedOp<'_>>().op::<MulSIExtendedOp<'_>>().op::<MulUIExtendedOp<'_>>();
        d.op::<ScalingExtFOp<'_>>().op::<ScalingTruncFOp<'_>>();
        d.op_interface::<AddUIExtendedOp<'_>, dyn ResultNames>(&wide::Two("sum", "overflow"))
            .op_interface::<MulSIExtendedOp<'_>, dyn ResultNames>(&wide::Two("low", "high"))
            .op_interface::<MulUIExtendedOp<'_>, dyn ResultNames>(&wide::Two("low", "high"));
        d.op_interface::<ConstantOp<'_>, dyn ResultNames>(&crate::names::ConstantName)
            .op_interface::<MulIOp<'_>, dyn ResultNames>(&crate::names::ProductName);
        d.dialect_interface::<dyn Inliner>(&InlineCallables);
        casts::register(d);
        interp::register(d);
    }
}

fn register_integer_ops(d: &mut DialectBuilder<'_>) {
    d.op::<ConstantOp<'_>>().op::<AddIOp<'_>>().op::<SubIOp<'_>>().op::<MulIOp<'_>>();
    d.op::<DivUIOp<'_>>().op::<DivSIOp<'_>>().op::<CeilDivUIOp<'_>>().op::<CeilDivSIOp<'_>>();
    d.op::<FloorDivSIOp<'_>>().op::<RemUIOp<'_>>().op::<RemSIOp<'_>>();
    d.op::<AndIOp<'_>>().op::<OrIOp<'_>>().op::<XOrIOp<'_>>();
    d.op::<ShLIOp<'_>>().op::<ShRUIOp<'_>>().op::<ShRSIOp<'_>>();
    d.op::<MaxSIOp<'_>>().op::<MaxUIOp<'_>>().op::<MinSIOp<'_>>().op::<MinUIOp<'_>>();
    d.op::<CmpIOp<'_>>().op::<SelectOp<'_>>();
    for name in
        [name_of::<DivUIOp<'_>>(), name_of::<DivSIOp<'_>>(), name_of::<CeilDivUIOp<'_>>(), name_of::<CeilDivSIOp<'_>>()]
    {
        d.interface::<dyn MemoryEffects>(name, &NoEffects);
    }
    for name in [name_of::<DivUIOp<'_>>(), name_of::<CeilDivUIOp<'_>>(), name_of::<RemUIOp<'_>>()] {
        d.interface::<dyn ConditionallySpeculatable>(name, &Division { signed: false });
    }
    for name in [
        name_of::<DivSIOp<'_>>(),
        name_of::<CeilDivSIOp<'_>>(),
        name_of::<FloorDivSIOp<'_>>(),
        name_of::<RemSIOp<'_>>(),
    ] {
        d.interface::<dyn ConditionallySpeculatable>(name, &Division { signed: true });
    }
}

fn register_float_ops(d: &mut DialectBuilder<'_>) {
    d.op::<NegFOp<'_>>().op::<AddFOp<'_>>().op::<SubFOp<'_>>().op::<MulFOp<'_>>().op::<DivFOp<'_>>();
    d.op::<RemFOp<'_>>().op::<MaximumFOp<'_>>().op::<MinimumFOp<'_>>().op::<MaxNumFOp<'_>>().op::<MinNumFOp<'_>>();
    d.op::<CmpFOp<'_>>();
}

fn register_casts(d: &mut DialectBuilder<'_>) {
    d.op::<ExtUIOp<'_>>().op::<ExtSIOp<'_>>().op::<TruncIOp<'_>>().op::<ExtFOp<'_>>().op::<TruncFOp<'_>>();
    d.op::<UIToFPOp<'_>>().op::<SIToFPOp<'_>>().op::<FPToUIOp<'_>>().op::<FPToSIOp<'_>>();
    d.op::<IndexCastOp<'_>>().op::<IndexCastUIOp<'_>>().op::<BitcastOp<'_>>();
}

/// Division has no effect on memory, but is undefined for a zero divisor, so it may not be executed speculatively.
struct NoEffects;

impl MemoryEffects for NoEffects {
    fn effects(&self, _: OpRef<'_>) -> Effects {
        Effects::new()
    }
}

/// Undefined for a zero divisor, and where the quotient of signed integers does not fit, by minus one.
struct Division {
    signed: bool,
}

impl ConditionallySpeculatable for Division {
    fn speculatability(&self, op: OpRef<'_>) -> Speculatability {
        let divisor = op.constant(op.operand(1));
        let is_safe = |n: i64| n != 0 && !(self.signed && n == -1);
        match divisor.and_then(|d| op.cx.as_int(op.cx.splat_value(d).unwrap_or(d))) {
            Some(n) if is_safe(n) => Speculatability::Always,
            _ => Speculatability::Never,
        }
    }
}

/// Builds an `arith.constant`, for dialects whose ops fold to such constants; `None` for a value that is none.
pub fn materialize(b: &mut Builder<'_>, loc: Loc, value: Attr, ty: Type) -> Option<Op> {
    let is_number = ty.is_int_index_or_float(b.cx()) || ty.is_shaped(b.cx());
    (is_number && b.cx().attr_type(value) == Some(ty)).then(|| ConstantOp::build(b, loc, value))
}
