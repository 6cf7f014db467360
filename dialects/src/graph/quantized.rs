//! Tensors of stored integers: ops of this dialect move them and do not look at them.
//!
//! Where scales belong to positions, elements keep their place along the dimensions that have scales, and tensors their size there:
//! what cannot be shown to do so is refused.

use sutura_ir::asm::print::type_text;
use sutura_ir::diagnostics::{Diagnostics, Reported};
use sutura_ir::{OpRef, Type};

use super::maps::plain_dim;
use super::ops::{ConcatOp, ReshapeOp, ShapeOfOp, SliceOp, YieldOp};
use super::structured::ComputeForm;
use super::{GatherElementsOp, GatherNdOp, GatherOp, ScatterOp};
use crate::quant::{Scheme, UniformType, check_type, is_quantized};

/// What may be done instead.
const HELP: &str = "compute with what 'quant.dcast' expresses, or move the integers that 'quant.scast' gives";

/// Refuses what an op may not do with tensors of stored integers.
pub(super) fn check(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
    let is_stored = |ty: &Type| is_quantized(op.cx, op.cx.element_type(*ty));
    let types = op.operand_types().chain(op.result_types());
    for ty in types.filter(is_stored) {
        if let Err(message) = check_type(op.cx, ty) {
            return Err(diags.report(op.error(message)));
        }
        let elem = op.cx.element_type(ty);
        let kept = match op.cx.type_as::<UniformType>(elem).map(|ty| &ty.scheme) {
            None | Some(Scheme::Tensor(_)) => moves(op),
            Some(Scheme::Axis { axis, .. }) => moves(op) && keeps(op, elem, *axis),
            Some(Scheme::Blocks { .. }) => op.is::<ShapeOfOp<'_>>(),
        };
        if !kept {
            let elem = type_text(op.cx, elem);
            let message = if moves(op) {
                format!("moves elements of {elem}, whose scales belong to positions")
            } else {
                format!("computes with elements of {elem}, which are stored integers")
            };
            return Err(diags.report(op.error(message).help(HELP)));
        }
    }
    Ok(())
}

/// Ops that move elements and do not look at them.
fn moves(op: OpRef<'_>) -> bool {
    if let Some(form) = ComputeForm::of(op) {
        return form.combiners.is_empty() && form.joint.is_none() && only_moves(op, &form);
    }
    op.is::<ReshapeOp<'_>>()
        || op.is::<SliceOp<'_>>()
        || op.is::<ConcatOp<'_>>()
        || op.is::<GatherOp<'_>>()
        || op.is::<GatherElementsOp<'_>>()
        || op.is::<GatherNdOp<'_>>()
        || op.is::<ShapeOfOp<'_>>()
        || op.as_::<ScatterOp<'_>>().is_some_and(|scatter| scatter.combiner().is_none())
}

/// True for a function of elements that hands stored integers on, or chooses between them.
fn only_moves(op: OpRef<'_>, form: &ComputeForm<'_>) -> bool {
    let known = |inner: OpRef<'_>| {
        let stored = inner.operand_types().chain(inner.result_types()).any(|ty| is_quantized(op.cx, ty));
        !stored || inner.is::<YieldOp<'_>>() || inner.name_str() == "arith.select"
    };
    form.body.ops().all(known)
}

/// True for an op that leaves elements where they are along dimension `dim`, all of them.
fn keeps(op: OpRef<'_>, elem: Type, dim: usize) -> bool {
    if let Some(slice) = op.as_::<SliceOp<'_>>() {
        return slice.axes().iter().all(|axis| *axis != dim as i64);
    }
    if let Some(concat) = op.as_::<ConcatOp<'_>>() {
        return concat.axis() != dim as i64;
    }
    if let Some(gather) = op.as_::<GatherOp<'_>>() {
        // The dimension of the indices stands in the place of the one that they index.
        let one = |ty: Type| op.cx.shape(ty).is_some_and(|shape| shape.len() == 1);
        let stays = (dim as i64) < gather.axis() || op.operand_types().nth(1).is_some_and(one);
        return gather.axis() != dim as i64 && stays;
    }
    if let Some(form) = ComputeForm::of(op) {
        return along_one_iterator(op, &form, elem, dim);
    }
    op.is::<ShapeOfOp<'_>>()
}

/// True where one iterator runs through the dimension of all inputs and results of that type.
fn along_one_iterator(op: OpRef<'_>, form: &ComputeForm<'_>, elem: Type, dim: usize) -> bool {
    let of_type = |ty: Type| op.cx.element_type(ty) == elem;
    let inputs = op.operand_types().zip(&form.input_maps);
    let results = op.result_types().zip(&form.result_maps);
    let maps = inputs.chain(results).filter(|(ty, _)| of_type(*ty)).map(|(_, map)| *map);
    let mut iterators = maps.map(|map| op.cx.map_results(map).get(dim).and_then(|expr| plain_dim(op.cx, *expr)));
    let Some(Some(first)) = iterators.next() else { return false };
    iterators.all(|iterator| iterator == Some(first))
}
