//! Folding of casts: none that changes what is rounded. Numbers that are quantised and back are not what they were.

use sutura_ir::op_def::{Fold, FoldValue};
use sutura_ir::smallvec::{SmallVec, smallvec};
use sutura_ir::{Attr, OpRef};

use super::ops::StorageCastOp;

impl Fold for StorageCastOp<'_> {
    /// Back to what it was.
    fn fold(op: OpRef<'_>, _: &[Option<Attr>]) -> Option<SmallVec<[FoldValue; 1]>> {
        let inner = op.at(op.body.defining_op(op.operand(0))?);
        let back = inner.is::<StorageCastOp<'_>>() && inner.ty(inner.operand(0)) == op.ty(op.result(0));
        back.then(|| smallvec![FoldValue::Value(inner.operand(0))])
    }
}
