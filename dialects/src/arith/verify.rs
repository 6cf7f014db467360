//! What arith operations check beyond their declarations.

use sutura_ir::op_def::{InferInput, InferTypes, OpView, Verify};
use sutura_ir::smallvec::{SmallVec, smallvec};
use sutura_ir::{Context, Diagnostic, Diagnostics, OpRef, Reported, Type, TypeData};

use super::ops::*;
use crate::show;

fn report(diags: &mut Diagnostics, result: Result<(), Diagnostic>) -> Result<(), Reported> {
    result.map_err(|d| diags.report(d))
}

/// The type of a comparison of values of type `ty`: `i1` in its shape.
pub(crate) fn bool_type(cx: &Context, ty: Type) -> Type {
    cx.with_element_type(ty, Type::I1)
}

impl Verify for ConstantOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        report(diags, verify_constant(ConstantOp::from_ref(op)))
    }
}

fn verify_constant(constant: ConstantOp<'_>) -> Result<(), Diagnostic> {
    let op = constant.op_ref();
    let (cx, value, ty) = (op.cx, constant.constant(), op.ty(constant.result()));
    if cx.attr_type(value) != Some(ty) {
        return Err(op.error("failed to verify that all of {value, result} have same type"));
    }
    if ty.is_integer(cx) && !ty.is_signless_integer(cx) {
        return Err(op.error("integer return type must be signless"));
    }
    if !is_number(cx, value) && cx.array(value).is_none() && !is_elements(cx, value) {
        return Err(op.error("value must be an integer, float, or elements attribute"));
    }
    if let TypeData::Vector { scalable, .. } = cx.type_data(ty)
        && cx.ints(scalable).contains(&1)
        && cx.splat_value(value).is_none()
        && !matches!(cx.attr_data(value), sutura_ir::AttrData::Dense { splat: true, .. })
    {
        return Err(op.error(
            "initializing scalable vectors with elements attribute is not supported unless it's a vector splat",
        ));
    }
    Ok(())
}

fn is_number(cx: &Context, attr: sutura_ir::Attr) -> bool {
    use sutura_ir::AttrData::{BigFloat, BigInteger, Float, Integer};
    matches!(cx.attr_data(attr), Integer { .. } | BigInteger { .. } | Float { .. } | BigFloat { .. })
}

fn is_elements(cx: &Context, attr: sutura_ir::Attr) -> bool {
    (<sutura_ir::constraints::ElementsAttr as sutura_ir::op_def::AttrConstraintDef>::CONSTRAINT.check)(cx, attr)
}

// ---- comparison and selection

fn verify_comparison(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let (operand, result) = (op.ty(op.operand(0)), op.ty(op.result(0)));
    if bool_type(op.cx, operand) == result {
        return Ok(());
    }
    Err(op.error("failed to verify that result type has i1 element type and same shape as operands"))
}

fn infer_comparison(input: InferInput<'_>) -> Result<SmallVec<[Type; 2]>, String> {
    let operand = input.operands.first().ok_or("the comparison has no operands")?;
    Ok(smallvec![bool_type(input.cx, *operand)])
}

impl Verify for CmpIOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        report(diags, verify_comparison(op))
    }
}

impl InferTypes for CmpIOp<'_> {
    fn infer(input: InferInput<'_>) -> Result<SmallVec<[Type; 2]>, String> {
        infer_comparison(input)
    }
}

impl Verify for CmpFOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        report(diags, verify_comparison(op))
    }
}

impl InferTypes for CmpFOp<'_> {
    fn infer(input: InferInput<'_>) -> Result<SmallVec<[Type; 2]>, String> {
        infer_comparison(input)
    }
}

impl Verify for SelectOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let select = SelectOp::from_ref(op);
        let (condition, result) = (op.ty(select.condition()), op.ty(select.result()));
        if condition == Type::I1 {
            return Ok(());
        }
        let (a, b) = (op.cx.shape(condition), op.cx.shape(result));
        if result.is_shaped(op.cx) && condition.is_shaped(op.cx) && a == b {
            return Ok(());
        }
        Err(diags.report(op.error("failed to verify that condition is signless i1 or has matching shape")))
    }
}

// ---- casts

/// What a cast needs of the element types of operand and result.
type Rule = fn(&Context, Type, Type) -> bool;

fn verify_cast(op: OpRef<'_>, rule: Rule) -> Result<(), Diagnostic> {
    let (cx, from, to) = (op.cx, op.ty(op.operand(0)), op.ty(op.result(0)));
    let same_class = std::mem::discriminant(&cx.type_data(from)) == std::mem::discriminant(&cx.type_data(to))
        || !(from.is_shaped(cx) || to.is_shaped(cx));
    let tensor_shapes = !from.is_tensor(cx) || cx.shape(from) == cx.shape(to);
    if !tensor_shapes {
        return Err(op.error("failed to verify that input and output have the same tensor dimensions"));
    }
    if same_class && rule(cx, cx.element_type(from), cx.element_type(to)) {
        return Ok(());
    }
    let (from, to) = (show::ty(cx, from), show::ty(cx, to));
    Err(op.error(format!("operand type '{from}' and result type '{to}' are cast incompatible")))
}

fn verify_widening(op: OpRef<'_>) -> Result<(), Diagnostic> {
    verify_cast(op, |cx, from, to| cx.bit_width(from).zip(cx.bit_width(to)).is_some_and(|(from, to)| to > from))
}

fn verify_narrowing(op: OpRef<'_>) -> Result<(), Diagnostic> {
    verify_cast(op, |cx, from, to| cx.bit_width(from).zip(cx.bit_width(to)).is_some_and(|(from, to)| to < from))
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

/// Implements verification by a function.
macro_rules! verifies {
    ($($op:ident => $verify:expr;)*) => {$(
        impl Verify for $op<'_> {
            fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
                let verify: fn(OpRef<'_>) -> Result<(), Diagnostic> = $verify;
                report(diags, verify(op))
            }
        }
    )*};
}

verifies! {
    ExtUIOp => verify_widening;
    ExtSIOp => verify_widening;
    ExtFOp => verify_widening;
    TruncIOp => verify_narrowing;
    TruncFOp => verify_narrowing;
    UIToFPOp => |op| verify_cast(op, int_to_float);
    SIToFPOp => |op| verify_cast(op, int_to_float);
    FPToUIOp => |op| verify_cast(op, float_to_int);
    FPToSIOp => |op| verify_cast(op, float_to_int);
    IndexCastOp => |op| verify_cast(op, index_to_int);
    IndexCastUIOp => |op| verify_cast(op, index_to_int);
    BitcastOp => |op| verify_cast(op, same_width);
}
