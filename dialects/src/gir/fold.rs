//! Folding.

use smallvec::{SmallVec, smallvec};
use sutura_ir::op_def::{Fold, FoldValue};
use sutura_ir::{Attr, OpRef, OpView};

use super::ops::IndexOp;

impl Fold for IndexOp<'_> {
    /// A map of constants is a constant; a map whose one result is one of its inputs is that input.
    fn fold(op: OpRef<'_>, operands: &[Option<Attr>]) -> Option<SmallVec<[FoldValue; 1]>> {
        use sutura_ir::affine::AffineExprData;
        let cx = op.cx;
        let map = cx.affine_map_data(IndexOp::from_ref(op).map());
        let results = cx.affine_exprs(map.results);
        match results.iter().map(|r| cx.affine_data(*r)).collect::<SmallVec<[_; 2]>>()[..] {
            [AffineExprData::Dim(i)] => return Some(smallvec![FoldValue::Value(op.operand(i as usize))]),
            [AffineExprData::Symbol(i)] => {
                return Some(smallvec![FoldValue::Value(op.operand((map.dims + i) as usize))]);
            }
            _ => {}
        }
        let values: Option<Vec<i64>> = operands.iter().map(|a| cx.as_int((*a)?)).collect();
        let values = values?;
        let (dims, symbols) = values.split_at(map.dims as usize);
        let values: Option<Vec<i64>> = results.iter().map(|r| cx.affine_eval(*r, dims, symbols)).collect();
        let value = values?.into_iter().min()?;
        Some(smallvec![FoldValue::Attr(cx.index_attr(value))])
    }
}
