//! Folding of memref operations.

use sutura_ir::op_def::{Fold, FoldValue, OpView};
use sutura_ir::smallvec::{SmallVec, smallvec};
use sutura_ir::{Attr, DYNAMIC, OpRef, Value};

use super::ops::*;
use crate::slices::Mixed;

type Folded = Option<FoldValue>;

/// Implements folding of the one result by a function of the op and its constants.
macro_rules! folds {
    ($($op:ident => $fold:expr;)*) => {$(
        impl Fold for $op<'_> {
            fn fold(op: OpRef<'_>, constants: &[Option<Attr>]) -> Option<SmallVec<[FoldValue; 1]>> {
                let fold: fn(OpRef<'_>, &[Option<Attr>]) -> Folded = $fold;
                Some(smallvec![fold(op, constants)?])
            }
        }
    )*};
}

folds! {
    CastOp => |op, _| fold_cast(op);
    DimOp => fold_dim;
    RankOp => |op, _| Some(FoldValue::Attr(op.cx.index_attr(op.cx.shape(op.ty(op.operand(0)))?.len() as i64)));
    SubViewOp => |op, _| fold_subview(op);
}

fn def<'a, T: OpView<'a>>(op: OpRef<'a>, value: Value) -> Option<T> {
    op.at(op.body.defining_op(value)?).as_::<T>()
}

fn fold_cast(op: OpRef<'_>) -> Folded {
    let (source, to) = (op.operand(0), op.ty(op.result(0)));
    if op.ty(source) == to {
        return Some(FoldValue::Value(source));
    }
    let inner = def::<CastOp<'_>>(op, source)?.source();
    (op.ty(inner) == to).then_some(FoldValue::Value(inner))
}

fn fold_dim(op: OpRef<'_>, constants: &[Option<Attr>]) -> Folded {
    let dim = DimOp::from_ref(op);
    let index = usize::try_from(op.cx.as_int(constants[1]?)?).ok()?;
    let shape = op.cx.shape(op.ty(dim.source()))?;
    let size = *shape.get(index)?;
    if size != DYNAMIC {
        return Some(FoldValue::Attr(op.cx.index_attr(size)));
    }
    let number = shape[..index].iter().filter(|d| **d == DYNAMIC).count();
    let source = dim.source();
    let size = if let Some(alloc) = def::<AllocOp<'_>>(op, source) {
        alloc.dynamic_sizes().nth(number)
    } else if let Some(alloca) = def::<AllocaOp<'_>>(op, source) {
        alloca.dynamic_sizes().nth(number)
    } else if let Some(view) = def::<ViewOp<'_>>(op, source) {
        view.sizes().nth(number)
    } else if let Some(expand) = def::<ExpandShapeOp<'_>>(op, source) {
        expand.output_shape().nth(number)
    } else if let Some(cast) = def::<ReinterpretCastOp<'_>>(op, source) {
        value_of(cast.slice().sizes.get(index))
    } else {
        // With a dimension dropped the numbers of the dimensions would differ.
        let slice = def::<SubViewOp<'_>>(op, source)?.slice();
        if slice.sizes.len() == shape.len() { value_of(slice.sizes.get(index)) } else { None }
    };
    size.map(FoldValue::Value)
}

fn value_of(size: Option<&Mixed>) -> Option<Value> {
    match size {
        Some(Mixed::Value(value)) => Some(*value),
        _ => None,
    }
}

fn fold_subview(op: OpRef<'_>) -> Folded {
    let view = SubViewOp::from_ref(op);
    let (from, to) = (op.ty(view.source()), op.ty(view.result()));
    let whole = from == to && view.slice().is_whole(op.cx.shape(from)?);
    whole.then(|| FoldValue::Value(view.source()))
}
