//! Folding.

use smallvec::{SmallVec, smallvec};
use sutura_ir::op_def::{Fold, FoldValue};
use sutura_ir::{Attr, OpRef, OpView};

use super::ops::IndexOp;

impl Fold for IndexOp<'_> {
    /// A map of constants is a constant; a map that is just one of its inputs is that input.
    fn fold(op: OpRef<'_>, operands: &[Option<Attr>]) -> Option<SmallVec<[FoldValue; 1]>> {
        use sutura_ir::affine::AffineExprData;
        let cx = op.cx;
        let map = cx.affine_map_data(IndexOp::from_ref(op).map());
        let result = *cx.affine_exprs(map.results).first()?;
        match cx.affine_data(result) {
            AffineExprData::Dim(i) => return Some(smallvec![FoldValue::Value(op.operand(i as usize))]),
            AffineExprData::Symbol(i) => {
                return Some(smallvec![FoldValue::Value(op.operand((map.dims + i) as usize))]);
            }
            _ => {}
        }
        let values: Option<Vec<i64>> = operands.iter().map(|a| cx.as_int((*a)?)).collect();
        let values = values?;
        let (dims, symbols) = values.split_at(map.dims as usize);
        let value = cx.affine_eval(result, dims, symbols)?;
        Some(smallvec![FoldValue::Attr(cx.index_attr(value))])
    }
}
