//! What arith operations check beyond their declarations.

use sutura_ir::op_def::{InferInput, InferTypes, OpView, Verify};
use sutura_ir::smallvec::{SmallVec, smallvec};
use sutura_ir::{Context, Diagnostic, Diagnostics, OpRef, Reported, Type, TypeData};

use super::ops::*;

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
