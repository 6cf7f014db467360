//! Casts: which types fit, and which casts can be skipped.

use sutura_ir::interfaces::CastLike;
use sutura_ir::op_def::Verify;
use sutura_ir::{Context, Diagnostics, DialectBuilder, OpRef, Reported, Type};

use super::ops::*;
use crate::constant;

/// A cast of numbers, element by element on vectors and tensors.
struct Cast {
    /// What it needs of the element types of operand and result.
    fits: fn(&Context, Type, Type) -> bool,
    /// [`CastLike::may_skip`], by element types.
    skips: fn(&Context, Type, Type, Type) -> bool,
}

impl CastLike for Cast {
    fn are_compatible(&self, cx: &Context, from: &[Type], to: &[Type]) -> bool {
        let ([from], [to]) = (from, to) else { return false };
        let (from, to) = (*from, *to);
        let same_class = std::mem::discriminant(&cx.type_data(from)) == std::mem::discriminant(&cx.type_data(to))
            || !(from.is_shaped(cx) || to.is_shaped(cx));
        let same_shape = !from.is_shaped(cx) || !to.is_shaped(cx) || cx.shape(from) == cx.shape(to);
        same_class && same_shape && (self.fits)(cx, cx.element_type(from), cx.element_type(to))
    }

    fn may_skip(&self, cx: &Context, from: Type, middle: Type, to: Type) -> bool {
        let [from, middle, to] = [from, middle, to].map(|ty| cx.element_type(ty));
        (self.skips)(cx, from, middle, to)
    }
}

fn always(_: &Context, _: Type, _: Type, _: Type) -> bool {
    true
}

fn never(_: &Context, _: Type, _: Type, _: Type) -> bool {
    false
}

/// Back to where it began, without having lost high bits on the way.
fn when_back(cx: &Context, from: Type, middle: Type, to: Type) -> bool {
    let [outer, inner] = [from, middle].map(|ty| constant::int_width(cx, ty));
    from == to && outer.zip(inner).is_some_and(|(outer, inner)| outer <= inner)
}

fn widens(cx: &Context, from: Type, to: Type) -> bool {
    cx.bit_width(from).zip(cx.bit_width(to)).is_some_and(|(from, to)| to > from)
}

fn narrows(cx: &Context, from: Type, to: Type) -> bool {
    cx.bit_width(from).zip(cx.bit_width(to)).is_some_and(|(from, to)| to < from)
}

fn int_to_float(cx: &Context, from: Type, to: Type) -> bool {
    from.is_signless_integer(cx) && to.is_float(cx)
}

fn float_to_int(cx: &Context, from: Type, to: Type) -> bool {
    from.is_float(cx) && to.is_signless_integer(cx)
}

fn index_to_int(cx: &Context, from: Type, to: Type) -> bool {
    (from == Type::INDEX && to.is_signless_integer(cx)) || (from.is_signless_integer(cx) && to == Type::INDEX)
}

fn same_width(cx: &Context, from: Type, to: Type) -> bool {
    from != Type::INDEX && to != Type::INDEX && cx.bit_width(from).is_some() && cx.bit_width(from) == cx.bit_width(to)
}

/// Attaches the casts, and implements the check that the tensors have one shape, which has a message of its own.
macro_rules! casts {
    ($($op:ident => $fits:expr, $skips:expr;)*) => {
        pub(super) fn register(d: &mut DialectBuilder<'_>) {
            $(d.op_interface::<$op<'_>, dyn CastLike>(&Cast { fits: $fits, skips: $skips });)*
        }

        $(impl Verify for $op<'_> {
            fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
                same_tensor_shape(op, diags)
            }
        })*
    };
}

casts! {
    ExtUIOp => widens, always;
    ExtSIOp => widens, always;
    ExtFOp => widens, always;
    TruncIOp => narrows, always;
    // Each one rounds.
    TruncFOp => narrows, never;
    UIToFPOp => int_to_float, never;
    SIToFPOp => int_to_float, never;
    FPToUIOp => float_to_int, never;
    FPToSIOp => float_to_int, never;
    IndexCastOp => index_to_int, when_back;
    IndexCastUIOp => index_to_int, when_back;
    BitcastOp => same_width, always;
}

fn same_tensor_shape(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
    let (cx, from, to) = (op.cx, op.ty(op.operand(0)), op.ty(op.result(0)));
    if !from.is_tensor(cx) || cx.shape(from) == cx.shape(to) {
        return Ok(());
    }
    Err(diags.report(op.error("failed to verify that input and output have the same tensor dimensions")))
}
