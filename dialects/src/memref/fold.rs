//! Folding of memref operations.

use sutura_ir::op_def::{Fold, FoldValue, OpView};
use sutura_ir::smallvec::{SmallVec, smallvec};
use sutura_ir::{Attr, DYNAMIC, OpRef, Value};

use super::layout::strided_layout;
use super::ops::*;

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
    DimOp => fold_dim;
    RankOp => |op, _| Some(FoldValue::Attr(op.cx.index_attr(op.cx.shape(op.ty(op.operand(0)))?.len() as i64)));
    SubViewOp => |op, _| fold_subview(op);
    ExpandShapeOp => |op, _| undo::<CollapseShapeOp<'_>>(op, |c| c.src());
    CollapseShapeOp => |op, _| undo::<ExpandShapeOp<'_>>(op, |e| e.src());
    ReinterpretCastOp => |op, _| if is_plain(op) { same_type(op) } else { None };
    TransposeOp => |op, _| fold_transpose(op);
    AssumeAlignmentOp => |op, _| fold_assume(op);
}

fn fold_dim(op: OpRef<'_>, constants: &[Option<Attr>]) -> Folded {
    crate::shapes::fold_dim(op, constants[1]?)
}

/// An op that changes nothing.
fn same_type(op: OpRef<'_>) -> Folded {
    (op.ty(op.operand(0)) == op.ty(op.result(0))).then(|| FoldValue::Value(op.operand(0)))
}

/// True when the result's type says all of sizes, strides and offset.
fn is_plain(op: OpRef<'_>) -> bool {
    let ty = op.ty(op.result(0));
    let layout = strided_layout(op.cx, ty);
    let known = layout.is_some_and(|l| l.offset != DYNAMIC && !l.strides.contains(&DYNAMIC));
    known && op.cx.shape(ty).is_some_and(|shape| !shape.contains(&DYNAMIC))
}

/// A reshape that undoes another of kind `T`, or changes nothing.
fn undo<'a, T: OpView<'a>>(op: OpRef<'a>, source: fn(T) -> Value) -> Folded {
    if let Some(found) = same_type(op) {
        return Some(found);
    }
    let inner = op.at(op.body.defining_op(op.operand(0))?).as_::<T>()?;
    let same = inner.op_ref().prop("reassociation") == op.prop("reassociation");
    (same && op.ty(source(inner)) == op.ty(op.result(0))).then(|| FoldValue::Value(source(inner)))
}

fn fold_transpose(op: OpRef<'_>) -> Folded {
    let rank = op.cx.shape(op.ty(op.operand(0)))?.len();
    let order = TransposeOp::order(op.cx, TransposeOp::from_ref(op).permutation(), rank)?;
    order.into_iter().eq(0..rank).then_some(()).and_then(|()| same_type(op))
}

/// What is known to be aligned need not be said to be.
fn fold_assume(op: OpRef<'_>) -> Folded {
    let outer = AssumeAlignmentOp::from_ref(op);
    let inner = op.at(op.body.defining_op(outer.memref())?).as_::<AssumeAlignmentOp<'_>>()?;
    let known = outer.alignment() > 0 && inner.alignment() % outer.alignment() == 0;
    known.then(|| FoldValue::Value(outer.memref()))
}

fn fold_subview(op: OpRef<'_>) -> Folded {
    let view = SubViewOp::from_ref(op);
    let (from, to) = (op.ty(view.source()), op.ty(view.result()));
    let whole = from == to && view.slice().is_whole(op.cx.shape(from)?);
    whole.then(|| FoldValue::Value(view.source()))
}
