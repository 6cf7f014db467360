//! What must hold of complex ops, types that follow from others, and the text of those.

use sutura_ir::asm::parse::DirectiveDef;
use sutura_ir::op_def::{InferInput, Verify};
use sutura_ir::smallvec::{SmallVec, smallvec};
use sutura_ir::{Diagnostics, OpRef, Reported, Type};

use super::ops::{ConstantOp, CreateOp};
use super::{number_type, part_type};

/// `custom<OfParts>(type($real), type($imaginary), type($complex))`: the result's type, from whose parts the operands' follow.
pub(super) const OF_PARTS: DirectiveDef = DirectiveDef {
    parse: |p, parts, _| {
        let loc = p.loc();
        let ty = p.ty()?;
        let Some(part) = part_type(p.cx(), ty) else {
            return Err(p.error_at(loc, "expected a complex type"));
        };
        parts.operand_types = vec![Some(vec![part]), Some(vec![part])];
        parts.result_types = vec![Some(vec![ty])];
        Ok(())
    },
    print: |p, op, _| {
        if let Some(ty) = op.result_types().next() {
            p.ty(ty);
        }
    },
};

fn check(holds: bool, op: OpRef<'_>, diags: &mut Diagnostics, message: &str) -> Result<(), Reported> {
    if holds { Ok(()) } else { Err(diags.report(op.error(message))) }
}

/// A part of a complex number has the type of the parts.
pub(super) fn real(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
    let part = part_type(op.cx, op.ty(op.operand(0)));
    check(part == op.result_types().next(), op, diags, "result must have the type of the operand's parts")
}

pub(super) fn infer_part(input: &InferInput<'_>) -> Result<SmallVec<[Type; 2]>, String> {
    let operand = input.operands.first().ok_or("the op has no operand")?;
    Ok(smallvec![part_type(input.cx, *operand).ok_or("the operand is no complex number")?])
}

/// What is compared has one type.
pub(super) fn comparison(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
    check(op.ty(op.operand(0)) == op.ty(op.operand(1)), op, diags, "compares numbers of different types")
}

impl Verify for ConstantOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let value = op.prop("value").and_then(|value| super::parts(op.cx, value).and(number_type(op.cx, value)));
        let message = "value must be a list of two floats of the type of the result's parts";
        check(value.is_some() && value == op.result_types().next(), op, diags, message)
    }
}

impl Verify for CreateOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let part = op.result_types().next().and_then(|ty| part_type(op.cx, ty));
        let fits = op.operand_types().all(|ty| Some(ty) == part);
        check(fits, op, diags, "operands must have the type of the result's parts")
    }
}
