//! Folding of memref operations.

use sutura_ir::op_def::{Fold, FoldValue, OpView};
use sutura_ir::smallvec::{SmallVec, smallvec};
use sutura_ir::{Attr, OpRef};

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
}

fn fold_dim(op: OpRef<'_>, constants: &[Option<Attr>]) -> Folded {
    crate::shapes::fold_dim(op, constants[1]?)
}

fn fold_subview(op: OpRef<'_>) -> Folded {
    let view = SubViewOp::from_ref(op);
    let (from, to) = (op.ty(view.source()), op.ty(view.result()));
    let whole = from == to && view.slice().is_whole(op.cx.shape(from)?);
    whole.then(|| FoldValue::Value(view.source()))
}
